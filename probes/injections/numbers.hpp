// Values of arguments and results as users write them: 4096, -1, 0x10, 16M, hipMemcpyHostToDevice, a|b, null.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// The word of the value, sign-extended if the type has a sign. An error has a cause and a fix, and no message yet.
Result<std::uint64_t> parse_argument(const Type& type, std::string_view text, const Types& types);

// The value of an error: a name of the enum, also without its prefix, or a number. It is not `success`.
Result<std::int64_t> parse_error_value(const Probe& probe, std::string_view text);

// The name of a value, or its number.
std::string shown_value(const Type& type, std::uint64_t value, const Types& types);

// Sign-extends the low bytes of a word as the type asks for.
std::uint64_t extended(const Type& type, std::uint64_t word);

// True for types that hold a number in integer registers.
bool is_number(const Type& type);
bool is_float(const Type& type);
// The value of a word of such a type.
double float_value(const Type& type, std::uint64_t word);

}  // namespace fade::probes
