// The DWARF of a library, from the library or its separate debug file. Finds the description of a function; dwarf_types
// and dwarf_prototype read the description. Local files only.
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
  // The error gives the reason for missing information. `file` must outlive the result.
  static Result<DwarfFile> open(const ElfFile& file, const std::string& debug_root);

  // The definition of the function that begins at `address`. If several functions share the address, the one named
  // `name`.
  std::optional<Dwarf_Die> function_at(std::uint64_t address, const std::string& name) const;
  ::Dwarf* handle() const { return dwarf_.get(); }
  // The definition with that plain name ("render" for Scene::render(int)); nullopt unless there is exactly one.
  std::optional<Dwarf_Die> only_function_called(const std::string& name) const;

 private:
  struct End {
    void operator()(::Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };
  using Handle = std::unique_ptr<::Dwarf, End>;
  Result<void> attach_alternate(const std::string& debug_root);

  // Members are destroyed from the bottom up: users of the alternate file before the file.
  std::unique_ptr<ElfFile> alternate_file_;
  Handle alternate_;
  Handle dwarf_;
};

// The linkage name of a definition, following abstract origin and specification. Empty if it has none.
std::string linkage_name(Dwarf_Die die);

}  // namespace fade::elf
