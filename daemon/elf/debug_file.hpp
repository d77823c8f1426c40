// Finds the separate debug file of a library in one local folder. Uses no network and no other place: paths in the
// library are not trusted.
#pragma once
#include <optional>
#include <string>

#include "elf/elf_file.hpp"

namespace fade::elf {

// root/.build-id/ab/cdef.debug, else root/FOLDER/LINK by .gnu_debuglink. The file is used only if its build id is the
// same or, if it has none, the checksum fits.
std::optional<ElfFile> find_debug_file(const ElfFile& file, const std::string& root);
// Returns nullopt if the path is not a regular file or not a supported ELF file. A FIFO or a device is not even opened.
std::optional<ElfFile> open_regular(const std::string& path);
// Finds the file by build id alone.
std::optional<ElfFile> debug_file_by_id(const std::string& build_id, const std::string& root);

}  // namespace fade::elf
