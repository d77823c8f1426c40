// One address space and its program: its sites, the modules in the loader's list, and its call sites. Shared by
// processes that share memory, copied by fork, replaced by exec.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "base/pid.hpp"
#include "elf/import_table.hpp"
#include "elf/link_map.hpp"
#include "elf/search_path.hpp"
#include "probe/address_space.hpp"
#include "probes/overrides/spec.hpp"
#include "session/cached_copy.hpp"
#include "session/copy_search.hpp"
#include "session/hot_functions.hpp"
#include "session/watched_function.hpp"

namespace fade {

class ProgramStacks;
class TapThreads;
struct GovernedProgram;

// The imports of a module from the GPU stack, and the words with their bindings when last read.
struct ModuleImports {
  std::shared_ptr<const elf::ImportTable> table;
  std::uint64_t bias = 0;
  std::vector<std::uint64_t> words;
  bool is_settled = false;  // all are bound: no change is expected
};

struct Module {
  ModuleId id = 0;
  elf::LinkMapEntry entry;
  RemoteRange span;
  std::string path;
  std::string role;                         // as in ModuleLoaded
  bool watched = false;                     // something in it was to be armed
  bool reserved = false;                    // slots near it are looked after
  std::shared_ptr<const elf::Asker> links;  // its requests to the loader
  std::shared_ptr<ModuleImports> imports;   // null: none that is looked at
  bool origin_reported = false;
  bool kernels_looked_for = false;  // CUDA's, in its file
};

// The environment's settings for the dynamic loader, and the folders from which the user expects libraries.
struct LoaderView {
  elf::LoaderVariables variables;
  std::vector<std::string> expected_folders;
};

struct CallSite {
  CallSiteId id = 0;
  std::string library;      // path; empty: not in a module
  bool refused = false;     // no site could be armed there
  std::string refusal;      // why; empty: it was not refused
  bool changeable = false;  // in memory without a file: generated code, which may be written again
  bool is_code = true;      // it could be executed when it was first seen
};

struct KernelName {
  std::string name, library;  // mangled; empty: not known here
  bool operator==(const KernelName&) const = default;
};

// Results of the looks at a program's breakpoints (SiteWatch). Session times.
struct SiteLooks {
  std::int64_t last = 0;  // the last look; 0: none yet
  std::unordered_map<RemoteAddr, std::int64_t>
      doubtful;  // sites that had no breakpoint at the last look -> when they had one
};

// Functions that have breakpoints, and could have taps (Conversion). Session times.
struct Untapped {
  std::vector<WatchedFunction> functions;
  std::vector<WatchedFunction> seldom_called;  // until is_called_often()
  std::int64_t due = 0, pause = 0;             // of the next attempt

  // From now on its places belong to `functions`. False: it has none.
  bool is_called_often(std::uint32_t entry) {
    const auto moved = std::stable_partition(seldom_called.begin(), seldom_called.end(),
                                             [entry](const WatchedFunction& one) { return one.entry != entry; });
    if (moved == seldom_called.end()) return false;
    functions.insert(functions.end(), moved, seldom_called.end());
    seldom_called.erase(moved, seldom_called.end());
    due = pause = 0;
    return true;
  }
  void forget(RemoteRange range) {
    for (auto* const list : {&functions, &seldom_called})
      std::erase_if(*list, [range](const WatchedFunction& one) { return range.contains(one.code.function); });
  }
};

struct Program {  // all fields have one lifetime: an exec replaces them together
  Program(const SystemCaller& caller, Pid pid, ProcFiles proc = ProcFiles())
      : space(std::make_shared<AddressSpace>(caller, pid, std::move(proc))) {}
  explicit Program(std::shared_ptr<AddressSpace> s) : space(std::move(s)) {}

  std::shared_ptr<Program> fork_copy(Pid child) const {
    auto copy = std::make_shared<Program>(space->fork_copy(child));
    copy->link_map = link_map;
    copy->modules = modules;
    for (Module& module : copy->modules) module.imports = nullptr;  // the rows of these modules are its parent's
    copy->call_sites = call_sites;
    copy->libc = libc;
    copy->is_list_doubtful = is_list_doubtful;
    copy->device_slots = device_slots;
    copy->untapped = untapped;
    copy->answers = answers;
    copy->cached = cached;
    return copy;
  }
  const Module* module_at(RemoteAddr address) const {
    for (const Module& module : modules)
      if (module.span.contains(address)) return &module;
    return nullptr;
  }

  std::shared_ptr<AddressSpace> space;
  std::optional<elf::LinkMap> link_map;  // nullopt: static, or left alone
  std::vector<Module> modules;
  RemoteAddr libc;  // where its ELF header is mapped, once it is loaded
  std::unordered_map<RemoteAddr, CallSite> call_sites;
  std::unordered_map<std::uint64_t, KernelName> named_kernels;  // by handle: those that have been looked at
  std::shared_ptr<const LoaderView> loader_view;                // null: not yet asked for
  std::unordered_map<int, probes::PciSlot> device_slots;        // by HIP's ordinal, where rules count by address
  std::vector<KnownAnswer> answers;                             // whole structures that calls have given
  bool has_new_answers = false;                                 // since the last search for copies of them
  std::vector<KeptCopy> cached;                                 // copies of device properties
  std::set<int> devices_left_alone;                             // devices outside of a rule for which this was reported
  bool is_list_doubtful = false;                                // modules may be missing in link_map that have run
  // CLOCK_BOOTTIME: places to return to were lifted then, and are not forgotten yet; 0: no place
  std::int64_t returns_rest_since = 0;
  bool has_reported_no_room = false;          // that there is no room for more places to return to
  bool has_reported_unplaced = false;         // such a rule met a device without a known address; this was reported
  std::shared_ptr<ProgramStacks> stacks;      // null: none was taken yet
  std::shared_ptr<TapThreads> taps;           // null: no function is tapped
  std::shared_ptr<GovernedProgram> governed;  // null: there is no budget
  HotFunctions hot;                           // by the number of breakpoints that were hit
  Untapped untapped;
  std::vector<RemoteRange> code;  // the executable ranges at the last look
  SiteLooks site_looks;
  RemoteAddr new_caller;  // the place of a first call: imports of its module may have been bound
};

}  // namespace fade
