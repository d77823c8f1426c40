#include "session/cuda_runtime.hpp"

#include <algorithm>

#include "elf/elf_file.hpp"
#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"

namespace fade {
namespace {

constexpr const char* kKernels = ".nv_fatbin";
constexpr const char* kRegisters = "__cudaRegisterFatBinary";

bool imports_it(const Module& module) {
  return module.imports && std::ranges::find(module.imports->table->all(), kRegisters, &elf::Import::name) != module.imports->table->all().end();
}

}  // namespace

bool has_cuda_runtime_inside(pid_t pid, const Module& module) {
  if (!module.role.empty() || imports_it(module)) return false;
  const auto maps = elf::read_maps(pid);
  const elf::Mapping* mapping = maps ? maps->find(module.span.begin) : nullptr;
  if (!mapping || !mapping->has_file()) return false;
  auto fd = elf::open_mapped_file(pid, *mapping);
  if (!fd) return false;
  const auto file = elf::ElfFile::open(std::move(*fd), module.path);
  return file && file->section(kKernels);
}

}  // namespace fade
