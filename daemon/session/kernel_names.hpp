// Names the kernels that are launched through handle objects: hipLaunchKernel's first argument is the address of an
// object in the program whose ELF symbol is the mangled kernel name. Reads the module's file, once per module.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/event.hpp"
#include "elf/elf_file.hpp"
#include "session/program.hpp"

namespace fade {

class ModuleSymbols {
 public:
  // The file behind the module at `address` in that process; nullptr where it cannot be opened. Kept per path.
  const elf::ElfFile* of(const Program& program, pid_t pid, RemoteAddr address);

 private:
  std::map<std::string, std::unique_ptr<elf::ElfFile>> files_;  // by path; null: tried in vain
};

class KernelNames {
 public:
  explicit KernelNames(EventSink& sink) : sink_(sink) {}

  // At a launch: names the handle if it is one and is new in this program.
  void launched(Program& program, ProcessId process, pid_t tid, std::uint64_t handle, ModuleSymbols& symbols);

 private:
  const std::string* recovered(const elf::ElfFile& file, const std::string& path, std::uint64_t offset);

  EventSink& sink_;
  // From the registration code of files whose symbols are stripped: path -> handle's address in the file -> name.
  std::map<std::string, std::unordered_map<std::uint64_t, std::string>> recovered_;
};

}  // namespace fade
