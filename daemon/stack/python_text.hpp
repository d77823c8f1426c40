// Decoders of CPython's strings and of the tables that lead from an instruction to its line. They know neither
// processes nor versions, only the layout. Any input is safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/remote.hpp"
#include "stack/python_layout.hpp"

namespace fade {

// A str as UTF-8, cut after `limit` code points. Lone surrogates (file names whose bytes are not text) become U+FFFD.
// nullopt: no readable str.
std::optional<std::string> python_text(const Memory& memory, RemoteAddr text, const PythonLayout& layout,
                                       std::size_t limit);

// The content of a bytes object, cut after `limit` bytes; empty if unreadable.
std::vector<std::byte> python_bytes(const Memory& memory, RemoteAddr object, const PythonLayout& layout,
                                    std::size_t limit);

// The line of the instruction at byte `instruction`. The line of the definition if nothing has run yet (negative); 0:
// no line.
int python_line(std::span<const std::byte> table, int first_line, std::int32_t instruction, PythonLayout::Lines kind);

}  // namespace fade
