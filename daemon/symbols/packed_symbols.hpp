// .gnu_debugdata: the symbols that some distributions leave in stripped files, an ELF file packed with xz.
#pragma once
#include <optional>

#include "elf/elf_file.hpp"

namespace fade::symbols {

// Unpacks into memory, at most 64 MB. Returns nullopt if the section is missing, damaged or larger.
std::optional<elf::ElfFile> unpack_symbols(const elf::ElfFile& file);

}  // namespace fade::symbols
