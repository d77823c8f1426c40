// The lines of a .probes file that declare types: enum, flags, handle, struct, union, typedef, success.
#pragma once
#include <string_view>

#include "probes/syntax/cursor.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// True if the cursor is at a declaration, and not at a prototype whose result is a struct or an enum.
bool sees_declaration(const Cursor& cursor);

// Reads one declaration. Returns false after a complaint.
bool parse_declaration(Cursor& cursor, Types& types);

}  // namespace fade::probes
