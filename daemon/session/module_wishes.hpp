// The functions that a user wants to watch, and the modules that have them. Tracing thread only.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elf/dynamic_image.hpp"
#include "elf/elf_file.hpp"
#include "probes/probe.hpp"
#include "session/inferior.hpp"
#include "session/module_role.hpp"
#include "session/operator_wishes.hpp"

namespace fade {

// --probe LIB:FUNCTION
struct SymbolRequest {
  std::string library;  // glob on file name or soname
  std::string function;
};

struct Wishes {
  std::vector<probes::ProbePtr> probes;
  std::vector<SymbolRequest> symbols;
  std::vector<probes::ProbePtr> families;  // of operators (Probe::is_family)
  probes::Selection selection;             // of their functions
  bool shapes = false;                     // of the tensors that operators take
  bool files = false;                      // ModuleLoaded with the file
};

class ModuleWishes {
 public:
  explicit ModuleWishes(Wishes wishes);

  bool files() const { return wishes_.files; }
  // Some function of the module is wanted: it is of the GPU stack, or a wish names it.
  bool wants(const ModuleFacts& module) const;
  // Learns the names of PyTorch's operators, if the module may have them and some are wanted.
  void read_names(const Inferior& inferior, const elf::DynamicImage& image, const ModuleFacts& module);
  // The wanted probe of a function of that name in this library; null: none.
  probes::ProbePtr probe_for(const std::string& name, const ModuleFacts& module);
  // The module should have operators that are wanted.
  bool wants_operators(const ModuleFacts& module) const;
  void found_operators() { has_operators_ = true; }

  // The functions of the module that are wanted by name only. Their signature comes from the debug information of the
  // file that is mapped there. Each finds its wish fulfilled.
  struct Requested {
    struct Function {
      probes::ProbePtr probe;
      RemoteAddr address;
    };
    std::vector<Function> functions;
    std::vector<std::pair<std::string, std::string>> notes;  // kind and detail, for Lifecycle
  };
  Requested requested(const Inferior& inferior, const elf::DynamicImage& image, const ModuleFacts& module);

  // A sentence for each request by name that no library has fulfilled.
  std::vector<std::string> unfulfilled() const;

 private:
  Wishes wishes_;
  std::multimap<std::string, probes::ProbePtr, std::less<>> by_symbol_;
  OperatorWishes operators_;
  bool has_operators_ = false;
  std::vector<bool> fulfilled_;  // parallel to wishes_.symbols
};

}  // namespace fade
