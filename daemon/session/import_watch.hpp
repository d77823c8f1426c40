// Finds the library that answers: reads from the memory of a program the bindings of each module's imports, and the
// reason for the loader's choice of libraries. Modules that import nothing of the GPU stack cost one look at their
// tables, once per file. Tracing thread only; no thread need be stopped.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "elf/dynamic_image.hpp"
#include "session/inferior.hpp"

namespace fade {

class ImportWatch {
 public:
  ImportWatch(EventSink& sink, const SessionClock& clock) : sink_(sink), clock_(clock) {}

  // `module` is the newest one of the inferior's program, and has been announced.
  void loaded(const Inferior& inferior, Module& module, const elf::DynamicImage& image, const std::string& soname,
              const std::string& build_id);
  // Called once all modules of one load are announced: sends the imports bound since the last look; cheap. `all`: also
  // settled imports, which other modules may have changed.
  void look(const Inferior& inferior, bool all);
  // Only the module of the first call from a place, if there is one: the loader has just bound that call.
  void look_at_caller(const Inferior& inferior);

 private:
  struct FileFacts {
    std::shared_ptr<const elf::Asker> links;
    std::shared_ptr<const elf::ImportTable> table;  // null: nothing of interest
  };
  const FileFacts& facts_of(const Memory& memory, const Module& module, const elf::DynamicImage& image,
                            const std::string& build_id);
  void tell_origin(const Inferior& inferior, Module& module, const std::string& soname);
  static void tell_rule(const Program& program, const Module& module, const LoaderView& view, ModuleOrigin& out);
  static const LoaderView& loader_view(const Inferior& inferior);
  void read(const Inferior& inferior, Module& module, bool all);
  void tell_bindings(const Inferior& inferior, const Module& module);

  EventSink& sink_;
  const SessionClock& clock_;
  std::map<std::string, FileFacts> files_;  // by path, build id and size
};

}  // namespace fade
