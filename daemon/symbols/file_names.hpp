// Function names for code of one file: from its symbols (.symtab, .dynsym, .gnu_debugdata, the separate debug file),
// and with inlined functions and source lines if it has debug information. Reads local files only. A damaged or
// stripped file gives fewer names or none. Takes 10 to 50 MB of memory for a large library. One thread at a time.
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
  // `name` is the path in the process. `debug_root`: the folder of separate debug files, elf::kDebugRoot.
  static Result<FileNames> open(Fd file, std::string name, const std::string& debug_root, Lines lines = Lines::Wanted);
  FileNames(FileNames&&) noexcept;
  FileNames& operator=(FileNames&&) noexcept;
  ~FileNames();

  // `offset` is relative to the mapping of the file's first byte. Innermost first: the last place is the called
  // function, and the places before it are inlined. Names are mangled. Empty: unknown. Fastest with ascending offsets.
  std::vector<Place> at(std::uint64_t offset);

 private:
  struct State;
  explicit FileNames(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade::symbols
