// Follows the modules that the dynamic loader loads and unloads, recognises the GPU libraries by their exports, and
// arms the functions to be watched. Never goes by a file's name alone. Tracing thread only.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "elf/dynamic_image.hpp"
#include "probes/probe.hpp"
#include "session/auxiliary_vector.hpp"
#include "session/engines.hpp"
#include "session/export_table.hpp"
#include "session/foothold.hpp"
#include "session/function_table.hpp"
#include "session/import_watch.hpp"
#include "session/inferior.hpp"
#include "session/module_files.hpp"
#include "session/named_code.hpp"
#include "session/process_facts.hpp"

namespace fade {

// --probe LIB:FUNCTION
struct SymbolRequest {
  std::string library;  // glob on file name or soname
  std::string function;
};

class ModuleWatch {
 public:
  struct Wishes {
    std::vector<probes::ProbePtr> probes;
    std::vector<SymbolRequest> symbols;
    bool files = false;  // ModuleLoaded with the file
  };
  ModuleWatch(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const Engines& engines,
              Wishes wishes);

  // A new program is at its first instruction: puts the net and the loader's site into it.
  Result<void> begin(Inferior& inferior, pid_t stopped, const AuxiliaryVector& facts);
  // For a running program with one thread stopped by fade: repairs the remains of a fade that died, or puts in the net.
  Result<void> lay_net(Inferior& inferior, const Thread& stopped, const Foothold& foothold);
  // Then, when no fork that began before it is under way: the sites of the loader and of libc.
  Result<void> enter(Inferior& inferior, const Thread& stopped, const Foothold& foothold);
  // After enter(): arms the loaded modules. `stopped`: a thread, or kNobody.
  void arm_loaded(Inferior& inferior, pid_t stopped);
  // A thread stopped at the loader's site.
  void loader_stopped(Inferior& inferior, const Thread& thread);
  // An IFUNC resolver returned where its function is.
  void resolved(Inferior& inferior, const Thread& thread, const Entry& resolver, RemoteAddr implementation);

  // A call returned a table of functions.
  void table_given(Inferior& inferior, const Thread& thread, const Entry& giver, const TableGiven& table);

  std::vector<std::string> notes() const;  // wishes of the user that were not fulfilled, in sentences
  const std::vector<std::string>& libraries() const { return libraries_; }  // GPU libraries seen: path (version)
  std::uint64_t armed() const { return armed_; }
  ImportWatch& imports() { return imports_; }

 private:
  struct Found;  // the result of a look at a new module
  Result<void> watch_loader(Program& program, pid_t stopped, const elf::Loader& loader);
  void add_all(Inferior& inferior, pid_t stopped, const std::vector<elf::LinkMapEntry>& entries, const Memory& memory);
  void add(Inferior& inferior, pid_t stopped, const elf::LinkMapEntry& entry, const elf::DynamicImage& image);
  void look_for_cuda_runtime(const Inferior& inferior);
  void changed(Program& program);
  static void reserve_slots(Program& program, const Thread& thread);
  void arm_libc(Inferior& inferior, pid_t stopped, const elf::DynamicImage& image);
  void remove(Inferior& inferior, const Thread& thread, const elf::LinkMapEntry& entry);
  Found look(Inferior& inferior, const elf::LinkMapEntry& entry, const elf::DynamicImage& image);
  probes::ProbePtr probe_for(const std::string& name, const Found& found) const;
  std::uint32_t arm_all(Inferior& inferior, pid_t stopped, const elf::DynamicImage& image, const Found& found);
  bool guard(const Inferior& inferior, pid_t stopped, RemoteAddr address, std::uint32_t entry, const std::string& name,
             Guard guard);
  std::uint32_t watch(Inferior& inferior, pid_t stopped, std::span<const WatchedFunction> functions);
  std::uint32_t watch(Inferior& inferior, pid_t stopped, RemoteAddr function, std::uint32_t entry);
  bool is_untouched(const Inferior& inferior, const elf::DynamicImage& image) const;
  std::unordered_set<RemoteAddr> branches_behind_entries(const AddressSpace& space, const elf::DynamicImage& image,
                                                         const std::vector<elf::DynamicSymbol>& functions,
                                                         const Memory& text) const;
  std::vector<WatchedFunction> code_of_wanted(const AddressSpace& space, const elf::DynamicImage& image,
                                              const std::vector<elf::DynamicSymbol>& functions,
                                              const std::vector<NamedCode>& wanted, bool may_jump) const;
  std::vector<probes::ProbePtr> requested(const Inferior& inferior, const elf::DynamicImage& image, const Found& found,
                                          std::map<std::string, RemoteAddr>& addresses);
  void refuse(const Inferior& inferior, const std::string& what, const std::string& why, std::uint64_t functions = 1);
  void note(const Inferior& inferior, std::string kind, std::string detail, std::int64_t value = 0);

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  const Engines& engines_;
  ImportWatch imports_{sink_, clock_};
  Wishes wishes_;
  ModuleFiles files_;
  std::multimap<std::string, probes::ProbePtr, std::less<>> by_symbol_;
  std::vector<bool> fulfilled_;  // parallel to wishes_.symbols
  std::vector<std::string> libraries_;
  std::set<std::string> unread_tables_;
  std::uint64_t armed_ = 0, refused_ = 0;
  std::string first_refusal_;
  bool is_arriving_ = false;  // fade attaches to a program that ran before: its loaded modules have been used
  ModuleId last_module_ = 0;
};

}  // namespace fade
