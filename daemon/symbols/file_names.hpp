// What code of one file is called: by its symbols (.symtab, .dynsym, .gnu_debugdata, those of its separate debug file), and with
// inlined functions and source lines where it has debug information. Reads local files only; a file that is damaged, absurd or
// stripped names less or nothing. Some 10 to 50 MB for a large library while it lives. One thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "symbols/source_lines.hpp"

namespace fade::symbols {

enum class Lines : std::uint8_t { Wanted, Unwanted };  // unwanted: names of symbols only, without inlined functions

class FileNames {
 public:
  // `name` is the path as the process knows it. `debug_root`: where separate debug files lie, elf::kDebugRoot.
  static Result<FileNames> open(Fd file, std::string name, const std::string& debug_root, Lines lines = Lines::Wanted);
  FileNames(FileNames&&) noexcept;
  FileNames& operator=(FileNames&&) noexcept;
  ~FileNames();

  // `offset` counts from where the file's first byte is mapped. Innermost first; the last one is the function that was called and
  // the others are inlined in it. Names are mangled. Empty: nothing is known. Cheapest in ascending order of offsets.
  std::vector<Place> at(std::uint64_t offset);

 private:
  struct State;
  explicit FileNames(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade::symbols
