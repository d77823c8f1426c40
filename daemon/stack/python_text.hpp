// Decoders of what CPython keeps in its objects: strings, and the tables that lead from an instruction to its line. They know
// neither processes nor versions but what the layout says; every input is survived.
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

// A str as UTF-8, cut after `limit` code points. Lone surrogates (bytes of a file name that are no text) become U+FFFD.
// nullopt: there is no str that could be read.
std::optional<std::string> python_text(const Memory& memory, RemoteAddr text, const PythonLayout& layout, std::size_t limit);

// The content of a bytes object, cut after `limit` bytes; empty where it cannot be read.
std::vector<std::byte> python_bytes(const Memory& memory, RemoteAddr object, const PythonLayout& layout, std::size_t limit);

// The line of the instruction at byte `instruction`; that of the definition where nothing has run yet (negative); 0: it has none.
int python_line(std::span<const std::byte> table, int first_line, std::int32_t instruction, PythonLayout::Lines kind);

}  // namespace fade
