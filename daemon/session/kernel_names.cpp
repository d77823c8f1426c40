#include "session/kernel_names.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "elf/kernel_handles.hpp"
#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"

namespace fade {
namespace {
constexpr std::size_t kMostHandles = 1'000'000;
}

const elf::ElfFile* ModuleSymbols::of(const Program& program, TaskId task, RemoteAddr address) {
  const Module* module = program.module_at(address);
  if (!module) return nullptr;
  const auto [it, is_new] = of_modules_.try_emplace(module->id);
  if (is_new) it->second = opened(task, *module, program.space->proc());
  return it->second;
}

const elf::ElfFile* ModuleSymbols::opened(TaskId task, const Module& module, const ProcFiles& proc) {
  const auto maps = elf::read_maps(task, proc);
  const elf::Mapping* mapping = maps ? maps->find(module.span.begin) : nullptr;
  if (!mapping) return nullptr;
  auto fd = elf::open_mapped_file(task, *mapping, proc);
  struct stat facts {};
  if (!fd || ::fstat(fd->get(), &facts) != 0) return nullptr;
  const auto [it, is_new] = files_.try_emplace({facts.st_dev, facts.st_ino});
  if (is_new)
    if (auto file = elf::ElfFile::open(std::move(*fd), module.path))
      it->second = std::make_unique<elf::ElfFile>(std::move(*file));
  return it->second.get();
}

const std::string* KernelNames::recovered(const elf::ElfFile& file, std::uint64_t offset) {
  const auto [it, is_new] = recovered_.try_emplace(&file);
  if (is_new)
    for (const auto& [handle, name] : elf::registered_kernels(file)) it->second.emplace(handle, name);
  const auto found = it->second.find(offset);
  return found == it->second.end() ? nullptr : &found->second;
}

KernelNamed KernelNames::of_object(const Module& module, const Program& program, Tid tid, std::uint64_t handle,
                                   ModuleSymbols& symbols) {
  KernelNamed named{.handle = handle, .library = module.path};
  const auto* file = symbols.of(program, tid, {handle});
  if (!file) return named;
  if (reported_.insert(file).second) named.file = std::make_shared<const Fd>(::fcntl(file->fd(), F_DUPFD_CLOEXEC, 3));
  const std::uint64_t offset = handle - module.entry.l_addr;
  const auto symbol = file->symbols().at(offset);
  if (symbol && symbol->offset == 0) named.name = symbol->name;
  else if (const std::string* name = recovered(*file, offset)) named.name = *name;
  return named;
}

void KernelNames::used(Program& program, ProcessId process, Tid tid, std::uint64_t handle, ModuleSymbols& symbols) {
  if (program.named_kernels.size() >= kMostHandles) return;
  const auto [known, is_new] = program.named_kernels.try_emplace(handle);
  const Module* module = is_new ? program.module_at({handle}) : nullptr;
  if (!module) return;  // known, or not a handle object: a hipFunction_t, named by the call that made it
  KernelNamed named = of_object(*module, program, tid, handle, symbols);
  named.process = process;
  known->second = {named.name, named.library};
  sink_.notice(std::move(named));  // also without a name: another library may have had one there before
}

void KernelNames::same(Program& program, ProcessId process, std::uint64_t handle, std::uint64_t known) {
  const auto source = program.named_kernels.find(known);
  if (source == program.named_kernels.end() || source->second.name.empty() || known == handle) return;
  const KernelName name = source->second;  // the map may move
  KernelName& now = program.named_kernels[handle];
  if (now == name) return;
  now = name;
  sink_.notice(KernelNamed{.process = process, .handle = handle, .name = name.name, .library = name.library});
}

}  // namespace fade
