// Names of kernels and functions as people read them. Names come from the program, so the work is bounded: a name of a
// few hundred bytes can expand to gigabytes of text.
#pragma once
#include <optional>
#include <string>

namespace fade {

// "at::native::fill<float>(int)"; if the whole would be too much "at::native::fill<...>". nullopt if the name is not
// mangled.
std::optional<std::string> demangled(const std::string& name);

// The same without parameters and return type, "at::native::fill<float>"; the name itself if it is not mangled.
std::string function_name(const std::string& name);

// "function+0x12", as function_name() has it, of a mangled "symbol+0x12".
std::string function_place(const std::string& symbol);

}  // namespace fade
