// The note @memory( ) after a function: its effect on memory. FORMAT.md has its words.
#pragma once
#include "probes/probe.hpp"
#include "probes/syntax/cursor.hpp"

namespace fade::probes {

// Reads "(ACT, ...)" behind the word `memory` at `at` into `out`, whose parameters are known. False: it has complained.
bool parse_memory_note(Cursor& cursor, const Token& at, Probe& out);

// False, with a complaint at `at`: the function's kind says that its calls are counted elsewhere.
bool check_memory_note(Cursor& cursor, const Token& at, const Probe& probe);

}  // namespace fade::probes
