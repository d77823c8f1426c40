// The symbols of one file, by address and by name. The strings must outlive the table.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fade::elf {

struct FileSymbol {
  std::uint64_t address = 0;  // of the file: add the load bias for an address in a process
  std::uint64_t size = 0;
  std::string_view name;
  bool function = false;  // else an object
  bool ifunc = false;
  bool exported = false;  // in .dynsym
  bool global = false;
};

struct SymbolAt {
  std::string_view name;
  std::uint64_t offset = 0;  // from the symbol's start
  bool function = false;
};

class SymbolTable {
 public:
  // Takes symbols in any order; a duplicate symbol is kept once.
  explicit SymbolTable(std::vector<FileSymbol> symbols);

  std::span<const FileSymbol> all() const { return symbols_; }  // by address
  // The innermost symbol that covers the address. A symbol without a size covers all up to the next symbol.
  std::optional<SymbolAt> at(std::uint64_t address) const;
  // The symbol with this name, the linkable one if there are several. nullptr: none has it.
  const FileSymbol* find(std::string_view name) const;
  // Functions with similar names, best first.
  std::vector<std::string> near(std::string_view name, std::size_t limit) const;

 private:
  std::vector<FileSymbol> symbols_;
  std::vector<std::uint32_t> by_name_;  // indexes
};

}  // namespace fade::elf
