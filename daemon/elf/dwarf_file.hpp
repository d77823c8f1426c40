// The DWARF of a library: its own or that of its separate debug file. Finds the description of a function; what the
// description says is read by dwarf_types and dwarf_prototype. Local files only.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "elf/elf_file.hpp"

namespace fade::elf {

class DwarfFile {
 public:
  // The error says why there is none. `file` must outlive it.
  static Result<DwarfFile> open(const ElfFile& file, const std::string& debug_root);

  // The definition of the function that begins at `address`. Where several share it, the one called `name`.
  std::optional<Dwarf_Die> function_at(std::uint64_t address, const std::string& name) const;
  ::Dwarf* handle() const { return dwarf_.get(); }
  // A definition of that plain name ("render" for Scene::render(int)), of which there must be exactly one.
  std::optional<Dwarf_Die> only_function_called(const std::string& name) const;

 private:
  struct End {
    void operator()(::Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };
  using Handle = std::unique_ptr<::Dwarf, End>;
  Result<void> attach_alternate(const std::string& debug_root);

  // Destroyed from the bottom up: what uses the alternate file before the file.
  std::unique_ptr<ElfFile> alternate_file_;
  Handle alternate_;
  Handle dwarf_;
};

// Of a definition: the name that linkers see, following abstract origin and specification. Empty where it has none.
std::string linkage_name(Dwarf_Die die);

}  // namespace fade::elf
