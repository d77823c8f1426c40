// What debug information (DWARF) says about an address: the functions that the compiler inlined there, and file and line of each.
// Local files only. Trusts nothing it reads: bounded walks, no recursion.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elf/dwarf_file.hpp"

namespace fade::symbols {

struct Place {
  std::string function;  // as the linker knows it, or its plain name; empty: not known
  std::string file;      // empty: not known
  int line = 0;          // 0: not known
};

class SourceLines {
 public:
  // The error says why there are none. `file` must outlive it. More than 256 MB of debug information are left alone.
  static Result<SourceLines> open(const elf::ElfFile& file, const std::string& debug_root);
  SourceLines(SourceLines&&) noexcept;
  SourceLines& operator=(SourceLines&&) noexcept;
  ~SourceLines();

  // Functions at the address, innermost first; the last one is the function that was called, the others are inlined in it.
  // Empty: the debug information does not cover it. Cheapest in ascending order of addresses.
  std::vector<Place> at(std::uint64_t address);

 private:
  struct State;
  explicit SourceLines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade::symbols
