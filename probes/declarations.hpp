// The lines of a .probes file that say what type names mean: enum, flags, handle, struct, union, typedef, success.
#pragma once
#include <string_view>

#include "probes/cursor.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// True where the cursor stands at such a line (and not at a prototype whose result is a struct or an enum).
bool sees_declaration(const Cursor& cursor);

// Reads one; false after a complaint.
bool parse_declaration(Cursor& cursor, Types& types);

}  // namespace fade::probes
