// The GPUs that a file on disk has code for: the targets of the code objects in its section .hip_fatbin. Reads the
// first images only, because files hold thousands, all for the same targets. Nothing in the file is trusted.
#pragma once
#include <string>
#include <vector>

#include "elf/elf_file.hpp"

namespace fade::elf {

// gfx90a, gfx1100 ...: sorted, each once. Empty if the file has no such section.
std::vector<std::string> offload_targets(const ElfFile& file);

}  // namespace fade::elf
