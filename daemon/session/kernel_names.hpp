// Names the kernels that are launched through handle objects: hipLaunchKernel's first argument is the address of an
// object in the program whose ELF symbol is the mangled kernel name. Reads the module's file, once per file.
#pragma once
#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/event.hpp"
#include "base/pid.hpp"
#include "elf/elf_file.hpp"
#include "session/program.hpp"

namespace fade {

class ModuleSymbols {
 public:
  // The file behind the module at `address` in that process; nullptr if it cannot be opened. Lives as long as this.
  const elf::ElfFile* of(const Program& program, TaskId task, RemoteAddr address);

 private:
  const elf::ElfFile* opened(TaskId task, const Module& module, const ProcFiles& proc);

  using FileId = std::pair<dev_t, ino_t>;
  // In containers, and after dlclose, different files have the same path. A file that is open keeps its number.
  std::map<FileId, std::unique_ptr<elf::ElfFile>> files_;
  std::unordered_map<ModuleId, const elf::ElfFile*> of_modules_;  // null: tried in vain
};

class KernelNames {
 public:
  explicit KernelNames(EventSink& sink) : sink_(sink) {}

  // Before a kernel is used: names the handle if it is such an object and is new in this program.
  void used(Program& program, ProcessId process, Tid tid, std::uint64_t handle, ModuleSymbols& symbols);
  // `handle` means the same kernel as `known`: the runtime launches `known` as `handle`.
  void same(Program& program, ProcessId process, std::uint64_t handle, std::uint64_t known);

 private:
  KernelNamed of_object(const Module& module, const Program& program, Tid tid, std::uint64_t handle,
                        ModuleSymbols& symbols);
  const std::string* recovered(const elf::ElfFile& file, std::uint64_t offset);

  EventSink& sink_;
  std::set<const elf::ElfFile*> reported_;  // these files' contents have been sent
  // From the registration code of files with stripped symbols: file -> handle's address in the file -> name.
  std::map<const elf::ElfFile*, std::unordered_map<std::uint64_t, std::string>> recovered_;
};

}  // namespace fade
