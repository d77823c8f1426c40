// The kind of program in a file: fade watches 64-bit x86 programs that have a dynamic loader. Nothing in the file is
// trusted.
#pragma once
#include <string>

namespace fade {

enum class ProgramKind { Unreadable, Other, Bits32, Static, Dynamic };  // Other: no ELF, or for another machine

ProgramKind program_kind(const std::string& path);

}  // namespace fade
