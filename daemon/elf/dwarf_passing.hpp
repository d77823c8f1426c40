// How C++ passes objects by value (Itanium C++ ABI 3.1.2): some do not travel themselves, but their address does.
#pragma once
#include <elfutils/libdw.h>

namespace fade::elf {

// `die`: a parameter, or a function (its result). True for objects with a destructor, copy or move constructor of
// their own, or with a virtual function, in themselves or in a part. Compilers that do not say it (gcc) are taken at
// what they list.
bool passed_by_address(Dwarf_Die die);

// An object without any content takes no register and no memory.
bool passed_as_nothing(Dwarf_Die die);

}  // namespace fade::elf
