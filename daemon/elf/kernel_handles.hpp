// Names of HIP kernels in libraries whose symbols are stripped. A kernel is launched by the address of an 8-byte handle
// object. The library's constructor passes the handle and the name to the runtime (__hipRegisterFunction). These calls
// are read from the code without running it.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "elf/elf_file.hpp"

namespace fade::elf {

// Address of the handle in the file -> mangled kernel name. Empty if the library registers no kernels. Recognises
// hipcc's constructors as compilers emit them: arguments by lea or mov, then a call through the PLT or the GOT.
std::map<std::uint64_t, std::string> registered_kernels(const ElfFile& file);

}  // namespace fade::elf
