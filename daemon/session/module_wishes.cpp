#include "session/module_wishes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/glob.hpp"
#include "elf/dwarf_prototype.hpp"
#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"

namespace fade {
namespace {

bool is_of(const std::string& library, const ModuleFacts& module) {
  return glob_match(library, std::string(base_name(module.path))) || glob_match(library, module.soname) ||
         library == module.path;
}

Result<elf::ElfFile> file_of(const Inferior& inferior, const elf::DynamicImage& image, const std::string& path) {
  const auto maps = elf::read_maps(inferior.pid, inferior.proc());
  const elf::Mapping* mapping = maps ? maps->find(image.span().begin) : nullptr;
  if (!mapping) return fail("nothing is mapped there");
  auto fd = elf::open_mapped_file(inferior.pid, *mapping, inferior.proc());
  if (!fd) return tl::unexpected(fd.error());
  return elf::ElfFile::open(std::move(*fd), path);
}

}  // namespace

ModuleWishes::ModuleWishes(Wishes wishes)
    : wishes_(std::move(wishes)),
      operators_(wishes_.families, wishes_.selection, wishes_.shapes),
      fulfilled_(wishes_.symbols.size()) {
  for (const auto& probe : wishes_.probes) by_symbol_.emplace(probe->symbol, probe);
}

bool ModuleWishes::wants(const ModuleFacts& module) const {
  return !module.role.empty() || wants_operators(module) ||
         std::ranges::any_of(wishes_.symbols,
                             [&](const SymbolRequest& request) { return is_of(request.library, module); }) ||
         std::ranges::any_of(wishes_.probes, [&](const probes::ProbePtr& probe) {
           return !probe->library.empty() && is_of(probe->library, module);
         });
}

bool ModuleWishes::wants_operators(const ModuleFacts& module) const {
  return std::ranges::any_of(wishes_.families,
                             [&](const probes::ProbePtr& family) { return is_of(family->library, module); });
}

void ModuleWishes::read_names(const Inferior& inferior, const elf::DynamicImage& image, const ModuleFacts& module) {
  if (wants_operators(module)) operators_.read_names(image, inferior.program->space->memory(), module.path);
}

probes::ProbePtr ModuleWishes::probe_for(const std::string& name, const ModuleFacts& module) {
  const auto [begin, end] = by_symbol_.equal_range(name);
  for (auto it = begin; it != end; ++it) {
    const std::string& library = it->second->library;
    if (library.empty() ? !module.role.empty() : is_of(library, module)) return it->second;
  }
  return wants_operators(module) ? operators_.probe_for(name) : nullptr;
}

ModuleWishes::Requested ModuleWishes::requested(const Inferior& inferior, const elf::DynamicImage& image,
                                                const ModuleFacts& module) {
  Requested out;
  std::optional<elf::ElfFile> file;
  for (std::size_t i = 0; i < wishes_.symbols.size(); ++i) {
    if (!is_of(wishes_.symbols[i].library, module)) continue;
    if (!file) {
      auto opened = file_of(inferior, image, module.path);
      if (!opened) {
        out.notes.emplace_back("refused", opened.error().text());
        return out;
      }
      file = std::move(*opened);
    }
    auto found = elf::function_probe(*file, wishes_.symbols[i].function);
    if (!found) {
      out.notes.emplace_back("refused", found.error().text());
      continue;
    }
    if (!found->note.empty()) out.notes.emplace_back("note", found->note);
    fulfilled_[i] = true;
    out.functions.push_back(
        {std::make_shared<const probes::Probe>(std::move(found->probe)), RemoteAddr{image.bias() + found->address}});
  }
  return out;
}

std::vector<std::string> ModuleWishes::unfulfilled() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < wishes_.symbols.size(); ++i)
    if (!fulfilled_[i])
      out.push_back(fmt::format("--probe {}:{}: no library with that function was loaded", wishes_.symbols[i].library,
                                wishes_.symbols[i].function));
  if (!wishes_.families.empty() && !has_operators_)
    out.emplace_back(
        "no operators of PyTorch were watched: no loaded libtorch_cpu.so exports the functions at::_ops::NAME::call of "
        "those "
        "that -e names");
  return out;
}

}  // namespace fade
