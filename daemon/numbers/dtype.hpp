// The types of a buffer's elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fade::numbers {

enum class Dtype : std::uint8_t { Unknown, F64, F32, F16, BF16, I64, I32, I16, I8, U8 };

std::string_view name_of(Dtype type);  // "f32"; empty: unknown
std::optional<Dtype> dtype_named(std::string_view name);
std::vector<std::string> dtype_names();
std::size_t size_of(Dtype type);  // bytes; 1: unknown
bool is_float(Dtype type);

// The value of an element from its bits.
double value_of(Dtype type, std::uint64_t bits);

}  // namespace fade::numbers
