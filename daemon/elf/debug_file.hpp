// Finds the separate debug file of a library in one local folder. No network, no other place: names that stand in the
// library are not trusted with paths.
#pragma once
#include <optional>
#include <string>

#include "elf/elf_file.hpp"

namespace fade::elf {

// root/.build-id/ab/cdef.debug, else root/FOLDER/LINK by .gnu_debuglink. Taken only if its build id is the same or,
// where there is none, the checksum fits.
std::optional<ElfFile> find_debug_file(const ElfFile& file, const std::string& root);
// nullopt where it is no regular file or not one of our kind: a FIFO or a device is not even opened.
std::optional<ElfFile> open_regular(const std::string& path);
// The file of that build id alone.
std::optional<ElfFile> debug_file_by_id(const std::string& build_id, const std::string& root);

}  // namespace fade::elf
