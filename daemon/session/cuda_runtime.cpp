#include "session/cuda_runtime.hpp"

#include <algorithm>

#include "elf/elf_file.hpp"
#include "elf/mapped_file.hpp"

namespace fade {
namespace {

constexpr const char* kKernels = ".nv_fatbin";
constexpr const char* kRegisters = "__cudaRegisterFatBinary";

bool imports_it(const Module& module) {
  return module.imports && std::ranges::find(module.imports->table->all(), kRegisters, &elf::Import::name) !=
                               module.imports->table->all().end();
}

}  // namespace

bool has_cuda_runtime_inside(Pid pid, const elf::Maps& maps, const Module& module, const ProcFiles& proc) {
  if (!module.role.empty() || imports_it(module)) return false;
  const elf::Mapping* mapping = maps.find(module.span.begin);
  if (!mapping || !mapping->has_file()) return false;
  auto fd = elf::open_mapped_file(pid, *mapping, proc);
  if (!fd) return false;
  const auto file = elf::ElfFile::open(std::move(*fd), module.path);
  return file && file->section(kKernels);
}

}  // namespace fade
