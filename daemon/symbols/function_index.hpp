// The functions of a file by address, 16 bytes each: their names stay in the string tables of their files. Symbols are
// not trusted: symbols outside the file's sections are left out.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"

namespace fade::symbols {

class FunctionIndex {
 public:
  // Adds the symbols that .symtab and .dynsym of `file` define in code. `file` must outlive the index.
  void add(const elf::ElfFile& file);
  // Call once, after the last add().
  void finish();

  // Linkage name of the innermost function that covers the address; empty: none does. A function without a size covers
  // all up to the next function or the end of its section. Valid as long as the files.
  std::string_view at(std::uint64_t address) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t address : 48;
    std::uint64_t strings : 8;  // number of the string table
    std::uint64_t rank : 8;     // among several with one address the highest is shown
    std::uint32_t size;
    std::uint32_t name;
  };
  static_assert(sizeof(Entry) == 16);
  void add_table(const elf::ElfFile& file, const elf::Section& table);

  std::vector<Entry> entries_;  // by address and rank
  std::vector<std::span<const std::byte>> strings_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;  // executable sections: begin, end
};

}  // namespace fade::symbols
