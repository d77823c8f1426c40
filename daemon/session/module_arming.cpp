#include "session/module_arming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/log.hpp"
#include "base/page_cache.hpp"
#include "proc/processes.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

// Bytes from one function to the next, which are sorted by address.
std::uint64_t up_to_next(const std::vector<elf::DynamicSymbol>& functions, std::uint64_t offset) {
  const auto next = std::ranges::upper_bound(functions, offset, {}, &elf::DynamicSymbol::offset);
  return (next == functions.end() ? offset + kSlotSize : next->offset) - offset;
}

// HSA has no role: a program that has only this library uses no GPU.
bool tells_gpu_times(const std::vector<NamedCode>& wanted) {
  return std::ranges::any_of(
      wanted, [](const NamedCode& code) { return probes::hsa_call(*code.probe) != probes::HsaCall::None; });
}

bool is_above_hip(const std::vector<NamedCode>& wanted) {
  return std::ranges::any_of(wanted, [](const NamedCode& code) { return code.probe->optional; });
}

// True if no thread can have executed anything of a module that the loader has just told of: the only one stands in the
// loader, or the loader has yet to make it usable.
bool is_untouched(const Inferior& inferior, const elf::DynamicImage& image, const ModuleFacts& module) {
  if (module.has_run || inferior.program->is_list_doubtful) return false;
  return image.is_unrelocated().value_or(false) ||
         (inferior.program.use_count() == 1 && read_thread_ids(inferior.pid, inferior.proc()).size() == 1);
}

}  // namespace

void ModuleArming::note(const Inferior& inferior, std::string kind, std::string detail) const {
  sink_.notice(Lifecycle{clock_.now(), inferior.id, 0, std::move(kind), 0, std::move(detail)});
}

void ModuleArming::refuse(const Inferior& inferior, const std::string& what, const std::string& why,
                          std::uint64_t functions) {
  note(inferior, "refused", fmt::format("{}: {}", what, why));
  if (refused_ == 0) first_refusal_ = fmt::format("{}: {}", what, why);
  refused_ += functions;
}

void ModuleArming::arm_libc(Inferior& inferior, Tid stopped, const elf::DynamicImage& image) {
  if (!image.lookup("__libc_start_main")) return;
  inferior.program->libc = {image.bias()};
  const std::tuple<const char*, std::uint32_t, Guard> wanted[] = {
      {"sigaction", functions_.set_action(), Guard::Sigaction},
      {"pthread_sigmask", functions_.set_mask(), Guard::Sigmask}};
  bool is_guarded = true;
  for (const auto& [name, entry, kind] : wanted) {
    const auto symbol = image.lookup(name);
    is_guarded &= symbol && guard(inferior, stopped, image.address(*symbol), entry, name, kind);
  }
  AddressSpace& space = inferior.space();
  if (is_guarded) space.set_guarded(true, stopped);
  const auto system_call = image.lookup("syscall");
  const auto place = system_call ? behind_system_call(space.memory(), image.address(*system_call)) : std::nullopt;
  if (place && !space.arm(*place, stopped, Guard::Clone)) log::debug("libc's syscall(2) stays as it is");
}

bool ModuleArming::guard(const Inferior& inferior, Tid stopped, RemoteAddr address, std::uint32_t entry,
                         const std::string& name, Guard guard) {
  const auto site = inferior.space().arm(address, stopped, guard);
  if (!site) refuse(inferior, name, site.error().message);
  if (!site || SiteUse::of(**site).entry != 0) return false;
  use_as_entry(**site, entry);
  return true;
}

std::uint32_t ModuleArming::watch(Inferior& inferior, Tid stopped, std::span<const WatchedFunction> functions) {
  std::uint32_t watched = 0;
  const auto done = engines_.watch(inferior, functions, stopped);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (!done[i]) refuse(inferior, functions_[functions[i].entry].probe->symbol, done[i].error().message);
    watched += done[i].value_or(false);
  }
  return watched;
}

std::uint32_t ModuleArming::watch(Inferior& inferior, Tid stopped, RemoteAddr function, std::uint32_t entry) {
  const WatchedFunction one{entry, FunctionEntry::read(inferior.memory(), function, 0)};
  return watch(inferior, stopped, std::span(&one, 1));
}

// The targets of the library's branches that a jump would overwrite. All places under a jump, if its text is not read.
std::unordered_set<RemoteAddr> ModuleArming::branches_behind_entries(const AddressSpace& space,
                                                                     const elf::DynamicImage& image,
                                                                     const std::vector<NamedCode>& wanted,
                                                                     const Memory& text) const {
  constexpr std::uint64_t kPiece = 1 << 20, kLongest = 16, kMostText = 1 << 30;
  std::unordered_set<RemoteAddr> covered, out;
  for (const NamedCode& code : wanted) {
    if (code.ifunc) continue;
    const FunctionEntry entry = FunctionEntry::read(text, RemoteAddr{image.bias() + code.offset}, kSlotSize);
    for (const RemoteAddr start : under_jump(entry, space.sites())) covered.insert(start);
  }
  std::vector<std::uint8_t> piece(kPiece + kLongest);
  std::uint64_t seen = 0;
  for (const elf::Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    if ((seen += segment.range.size()) > kMostText || seen < segment.range.size()) return covered;
    for (RemoteAddr at = segment.range.begin; at < segment.range.end; at = at + kPiece) {
      const std::size_t size = std::min<std::uint64_t>(piece.size(), segment.range.end - at);
      const std::size_t got = space.memory().read(at, std::as_writable_bytes(std::span(piece).first(size)));
      if (got < size) return covered;  // not seen: all may be
      out.merge(branched_to(std::span(piece).first(got), at, covered));
    }
  }
  return out;
}

// The index of the function is left open.
std::vector<WatchedFunction> ModuleArming::code_of_wanted(const AddressSpace& space, const elf::DynamicImage& image,
                                                          const std::vector<elf::DynamicSymbol>& functions,
                                                          const std::vector<NamedCode>& wanted, bool may_jump,
                                                          bool has_run) const {
  const PageCache text(space.memory());
  const auto branches =
      may_jump ? branches_behind_entries(space, image, wanted, text) : std::unordered_set<RemoteAddr>();
  const auto is_branched_to = [&](RemoteAddr function) {  // wherever in it the jump would be
    for (std::uint64_t i = 1; i < kLeads.back() + kJumpSize; ++i)
      if (branches.contains(function + i)) return true;
    return false;
  };
  std::vector<WatchedFunction> out;
  for (const NamedCode& code : wanted) {
    const RemoteAddr address{image.bias() + code.offset};
    const std::uint64_t untouched =
        may_jump && !code.ifunc && !is_branched_to(address) ? up_to_next(functions, code.offset) : 0;
    out.push_back({0, FunctionEntry::read(text, address, untouched)});
    out.back().code.stack_words = code.probe->stack_words;
    out.back().code.has_run = has_run;
  }
  return out;
}

// PyTorch before 1.10 has no such functions, and a file that was stripped of its symbols shows none.
void ModuleArming::tell_operators(const Inferior& inferior, const ModuleFacts& module,
                                  const std::vector<NamedCode>& wanted) {
  if (!wishes_.wants_operators(module)) return;
  if (!wanted.empty()) return wishes_.found_operators();
  note(inferior, "note",
       fmt::format("{} exports no function at::_ops::NAME::call of the operators that -e names", module.path));
}

std::uint32_t ModuleArming::arm_all(Inferior& inferior, Tid stopped, const elf::DynamicImage& image,
                                    const ModuleFacts& module) {
  std::uint32_t sites = 0, chosen_before = 0;
  wishes_.read_names(inferior, image, module);
  const auto functions = image.all_functions();
  const std::vector<NamedCode> wanted =
      code_of(functions, [&](const std::string& name) { return wishes_.probe_for(name, module); });
  const bool has_run = !is_untouched(inferior, image, module);
  tell_operators(inferior, module, wanted);
  const bool may_jump =
      (!module.role.empty() || tells_gpu_times(wanted) || is_above_hip(wanted)) && (!has_run || engines_.want_jumps());
  auto watched = code_of_wanted(inferior.space(), image, functions, wanted, may_jump, has_run);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const NamedCode& code = wanted[i];
    watched[i].entry = code.ifunc ? functions_.resolver(code.probe, module.path, module.major)
                                  : functions_.function(code.probe, module.path, module.major, code.other_names);
    chosen_before += code.ifunc && module.has_run;
  }
  sites += watch(inferior, stopped, watched);
  if (chosen_before > 0)
    refuse(inferior, fmt::format("{} functions of {}", chosen_before, module.path),
           "they are IFUNCs; what callers have been bound to before fade came is not seen", chosen_before);
  const auto requested = wishes_.requested(inferior, image, module);
  for (const auto& [kind, detail] : requested.notes) note(inferior, kind, detail);
  for (const auto& [probe, address] : requested.functions)
    sites += watch(inferior, stopped, address, functions_.function(probe, module.path, module.major));
  armed_ += sites;
  return sites;
}

void ModuleArming::resolved(Inferior& inferior, const Thread& thread, const Entry& resolver,
                            RemoteAddr implementation) {
  const auto function = functions_.function(resolver.probe, resolver.library, resolver.library_major);
  armed_ += watch(inferior, thread.tid, implementation, function);
}

void ModuleArming::table_given(Inferior& inferior, const Thread& thread, const Entry& giver, const TableGiven& table) {
  const Module* module = inferior.program->module_at(table.at);
  if (!module || module->path != giver.library) return;
  const auto functions = read_table(inferior.memory(), *module, table);
  if (!functions) {
    if (unread_tables_.insert(table.id).second) note(inferior, "note", functions.error().message);
    return;
  }
  for (const TableFunction& function : *functions) {
    const auto entry =
        functions_.function(table_probe(*giver.probe, table, function.index), giver.library, giver.library_major);
    armed_ += watch(inferior, thread.tid, function.address, entry);
  }
}

std::string ModuleArming::refusals() const {
  return refused_ == 0 ? std::string()
                       : fmt::format("{} functions could not be watched, first {}", refused_, first_refusal_);
}

}  // namespace fade
