// Follows the modules that the dynamic loader loads and unloads: reads the loader's list, announces each module, and
// has the wanted ones armed (ModuleWishes, ModuleArming). Never goes by a file's name alone. Tracing thread only.
#pragma once
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "elf/dynamic_image.hpp"
#include "session/auxiliary_vector.hpp"
#include "session/engines.hpp"
#include "session/foothold.hpp"
#include "session/function_table.hpp"
#include "session/import_watch.hpp"
#include "session/inferior.hpp"
#include "session/module_arming.hpp"
#include "session/module_files.hpp"
#include "session/module_wishes.hpp"

namespace fade {

class ModuleWatch {  // the steps of one module, in order: its file, the wishes, the arming, the imports
 public:
  using Wishes = fade::Wishes;
  ModuleWatch(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const Engines& engines,
              Wishes wishes);

  // A new program is at its first instruction: puts the net and the loader's site into it.
  Result<void> begin(Inferior& inferior, Tid stopped, const AuxiliaryVector& facts);
  // For a running program with one thread stopped by fade: repairs the remains of a fade that died, or puts in the net.
  Result<void> lay_net(Inferior& inferior, const Thread& stopped, const Foothold& foothold);
  // Then, when no fork that began before it is under way: the sites of the loader and of libc.
  Result<void> enter(Inferior& inferior, const Thread& stopped, const Foothold& foothold);
  // After enter(): arms the loaded modules. `stopped`: a thread, or kNobody.
  void arm_loaded(Inferior& inferior, Tid stopped);
  // A thread stopped at the loader's site. False: it must stop there again before it may go on.
  bool loader_stopped(Inferior& inferior, const Thread& thread);
  ModuleArming& arming() { return arming_; }
  std::uint64_t armed() const { return arming_.armed(); }

  std::vector<std::string> notes() const;  // wishes of the user that were not fulfilled, in sentences
  const std::vector<std::string>& libraries() const { return libraries_; }  // GPU libraries seen: path (version)
  ImportWatch& imports() { return imports_; }

 private:
  Result<void> watch_loader(Program& program, Tid stopped, const elf::Loader& loader);
  void add_all(Inferior& inferior, Tid stopped, const std::vector<elf::LinkMapEntry>& entries, const Memory& memory,
               bool have_run);
  void add(Inferior& inferior, Tid stopped, const elf::LinkMapEntry& entry, const elf::DynamicImage& image,
           bool has_run);
  ModuleFacts look(const Inferior& inferior, const elf::LinkMapEntry& entry, const elf::DynamicImage& image);
  void remove(Inferior& inferior, const Thread& thread, const elf::LinkMapEntry& entry);
  void look_for_cuda_runtime(const Inferior& inferior);
  void changed(Program& program);
  static void reserve_slots(Program& program, const Thread& thread);
  void note(const Inferior& inferior, std::string kind, std::string detail) const;

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  const Engines& engines_;
  ImportWatch imports_{sink_, clock_};
  ModuleWishes wishes_;
  ModuleArming arming_;
  ModuleFiles files_;
  std::vector<std::string> libraries_;
  ModuleId last_module_ = 0;
};

}  // namespace fade
