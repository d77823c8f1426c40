// How C++ passes objects by value (Itanium C++ ABI 3.1.2): some objects are passed by their address.
#pragma once
#include <elfutils/libdw.h>

namespace fade::elf {

// `die`: a parameter, or a function (its result). True for objects with a virtual function, or with a destructor, copy
// or move constructor of their own. A member or base with one of these counts, too. For compilers without this mark
// (gcc) the declared functions decide.
bool passed_by_address(Dwarf_Die die);

// An object without content takes no register and no memory.
bool passed_as_nothing(Dwarf_Die die);

}  // namespace fade::elf
