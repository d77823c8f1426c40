// Names of HIP kernels in libraries whose symbols are stripped. A kernel is launched by the address of an 8-byte
// handle object; the library's constructor tells the runtime which name belongs to it (__hipRegisterFunction). Those
// calls are read from the code without running it.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "elf/elf_file.hpp"

namespace fade::elf {

// Address of the handle in the file -> mangled kernel name. Empty where the library registers no kernels. Finds what
// compilers make of hipcc's constructors: arguments by lea or mov, then a call through the PLT or the GOT.
std::map<std::uint64_t, std::string> registered_kernels(const ElfFile& file);

}  // namespace fade::elf
