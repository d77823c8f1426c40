// The texts of a file's dynamic section by which the loader finds libraries: for programs that are not running. Nothing
// in the file is trusted.
#pragma once
#include <string>

#include "base/result.hpp"
#include "elf/search_path.hpp"

namespace fade::elf {

struct LinkedFile {
  std::string soname;  // empty if it has none
  Asker links;         // its path, DT_NEEDED, DT_RPATH and DT_RUNPATH
};
// Fails if the file is no 64-bit x86 program or library. `shown`: the path of the file for $ORIGIN, if it differs.
Result<LinkedFile> read_linked_file(const std::string& path, const std::string& shown = {});

}  // namespace fade::elf
