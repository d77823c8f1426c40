// The names that a file on disk imports: the undefined symbols of its dynamic symbol table. Nothing in the file is
// trusted.
#pragma once
#include <string>
#include <vector>

#include "elf/elf_file.hpp"

namespace fade::elf {

// Sorted, each name once; at most 1,000,000. Without versions (@GLIBC_2.34).
std::vector<std::string> undefined_names(const ElfFile& file);

}  // namespace fade::elf
