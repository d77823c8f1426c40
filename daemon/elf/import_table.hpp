// The names that a module imports from other modules, and the slots that hold the bound addresses. The relocations of
// the module's dynamic section (.rela.plt, .rela.dyn) give both. The table is the same for every load of a file; the
// words are read again each time. Reads in bulk; nothing that is read is trusted.
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

  // The undefined symbols that `wanted` accepts and that a relocation names. Sorted by slot; a name occurs once for
  // each of its slots.
  static ImportTable read(const Memory& memory, const DynamicImage& image, const NameFilter& wanted);

  const std::vector<Import>& all() const { return imports_; }
  // The words in the slots of a module with that bias, in the order of all(), in a few reads. nullopt: unreadable.
  std::optional<std::vector<std::uint64_t>> words(const Memory& memory, std::uint64_t bias) const;

 private:
  std::vector<Import> imports_;
};

}  // namespace fade::elf
