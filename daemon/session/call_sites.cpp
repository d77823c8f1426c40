#include "session/call_sites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "elf/maps.hpp"

namespace fade {
namespace {

// Hand-written assembly may jump to a function without a return address: the word on the stack is data then, and no
// breakpoint may be put there.
bool is_code(Program& program, Tid tid, RemoteAddr address) {
  const auto is_known = [&] {
    return std::ranges::any_of(program.code, [&](const RemoteRange& range) { return range.contains(address); });
  };
  if (is_known()) return true;
  const auto maps = elf::read_maps(tid);
  if (!maps) return true;  // the thread is gone
  program.code.clear();
  for (const elf::Mapping& mapping : maps->all())
    if (mapping.executable) program.code.push_back(mapping.range);
  return is_known();
}

}  // namespace

CallSite& CallSites::of(const Thread& thread, RemoteAddr return_address) {
  Program& program = *thread.inferior->program;
  if (program.call_sites.size() >= most_ && !program.call_sites.contains(return_address)) return other_;
  const auto [it, is_new] = program.call_sites.try_emplace(return_address);
  CallSite& site = it->second;
  if (!is_new) return site;
  site.id = ++last_;
  site.is_code = is_code(program, thread.tid, return_address);
  sink_.notice(describe(thread, return_address, site));
  return site;
}

void CallSites::look_again(const Thread& thread, CallSite& site, RemoteAddr return_address) {
  Program& program = *thread.inferior->program;
  program.code.clear();
  site.is_code = is_code(program, thread.tid, return_address);
}

CallSiteSeen CallSites::describe(const Thread& thread, RemoteAddr return_address, CallSite& site) {
  Program& program = *thread.inferior->program;
  CallSiteSeen seen{.site = site.id, .process = thread.inferior->id, .address = return_address.value};
  if (const Module* module = program.module_at(return_address)) {
    site.library = module->path;
    program.new_caller = return_address;
    seen.offset = return_address.value - module->entry.l_addr;
    if (const auto* file = symbols_.of(program, thread.tid, return_address))
      if (const auto symbol = file->symbols().at(seen.offset))
        seen.symbol = fmt::format("{}+{:#x}", symbol->name, symbol->offset);
  } else if (const auto maps = elf::read_maps(thread.tid)) {
    const elf::Mapping* mapping = maps->find(return_address);
    site.changeable = !mapping || !mapping->has_file();
    if (!site.changeable) {
      site.library = mapping->path;
      seen.offset = return_address - mapping->range.begin + mapping->offset;
    }
  }
  seen.library = site.library;
  return seen;
}

}  // namespace fade
