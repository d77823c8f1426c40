// What runs in one address space: its sites, the modules the loader says are there, and where calls come from. Shared
// by processes that share memory, copied by fork, replaced by exec.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/event.hpp"
#include "elf/link_map.hpp"
#include "probe/address_space.hpp"

namespace fade {

struct Module {
  ModuleId id = 0;
  elf::LinkMapEntry entry;
  RemoteRange span;
  std::string path;
  std::string role;  // as in ModuleLoaded
  bool watched = false;   // something in it was to be armed
  bool reserved = false;  // slots near it are looked after
};

struct CallSite {
  CallSiteId id = 0;
  std::string library;      // path; empty: not in a module
  bool refused = false;     // no site could be armed there
  bool changeable = false;  // in memory without a file: generated code, which may be written again
};

struct Program {
  Program(const Tracer& tracer, pid_t pid) : space(std::make_shared<AddressSpace>(tracer, pid)) {}
  explicit Program(std::shared_ptr<AddressSpace> s) : space(std::move(s)) {}

  std::shared_ptr<Program> fork_copy(pid_t child) const {
    auto copy = std::make_shared<Program>(space->fork_copy(child));
    copy->link_map = link_map;
    copy->modules = modules;
    copy->call_sites = call_sites;
    copy->libc = libc;
    return copy;
  }
  const Module* module_at(RemoteAddr address) const {
    for (const Module& module : modules)
      if (module.span.contains(address)) return &module;
    return nullptr;
  }

  std::shared_ptr<AddressSpace> space;
  std::optional<elf::LinkMap> link_map;  // none: static, or left alone
  std::vector<Module> modules;
  RemoteAddr libc;  // where its ELF header is mapped, once it is loaded
  std::unordered_map<RemoteAddr, CallSite> call_sites;
  std::unordered_set<std::uint64_t> named_kernels;
};

}  // namespace fade
