// The debug information (DWARF) for an address: the inlined functions there, with file and line. Local files only.
// Nothing that is read is trusted: bounded walks, no recursion.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elf/dwarf_file.hpp"

namespace fade::symbols {

struct Place {
  std::string function;  // linkage name, or its plain name; empty: unknown
  std::string file;      // empty: unknown
  int line = 0;          // 0: unknown
};

class SourceLines {
 public:
  // The Error gives the reason for missing lines. `file` must outlive the result. Debug information over 256 MB is not
  // read.
  static Result<SourceLines> open(const elf::ElfFile& file, const std::string& debug_root);
  SourceLines(SourceLines&&) noexcept;
  SourceLines& operator=(SourceLines&&) noexcept;
  ~SourceLines();

  // Functions at the address, innermost first: the last one is the called function, and the functions before it are
  // inlined. Empty: the debug information does not cover the address. Fastest with ascending addresses.
  std::vector<Place> at(std::uint64_t address);

 private:
  struct State;
  explicit SourceLines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade::symbols
