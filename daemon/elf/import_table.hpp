// The names that a module takes from other modules, and the words of its memory that say where each is bound to: what
// the relocations of its dynamic section name (.rela.plt, .rela.dyn). The table is the same for every load of a file;
// the words are read anew each time. Reads in bulk; trusts nothing it reads.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/remote.hpp"
#include "elf/dynamic_image.hpp"

namespace fade::elf {

struct Import {
  std::string name;
  std::uint64_t slot = 0;  // from the module's bias
};

class ImportTable {
 public:
  using NameFilter = std::function<bool(std::string_view)>;

  // The undefined symbols that `wanted` says yes to and that a relocation names. Sorted by slot; a name stands there
  // once for each of its slots.
  static ImportTable read(const Memory& memory, const DynamicImage& image, const NameFilter& wanted);

  const std::vector<Import>& all() const { return imports_; }
  // What stands in the slots of a module with that bias, in the order of all(); a few reads. nullopt: unreadable.
  std::optional<std::vector<std::uint64_t>> words(const Memory& memory, std::uint64_t bias) const;

 private:
  std::vector<Import> imports_;
};

}  // namespace fade::elf
