// The types of a matrix's elements, as far as a product can be computed again: real and complex floats, and integers.
// Pure.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fade::blas {

enum class Element : std::uint8_t { F16, BF16, F32, F64, C64, C128, I8, I32 };

std::string_view name_of(Element type);  // "f32"; "c64" is a pair of f32
std::optional<Element> element_named(std::string_view name);
std::vector<std::string> element_names();
std::size_t size_of(Element type);  // bytes
bool is_complex(Element type);

// From the numbers of hipDataType, and of rocblas_datatype and hipblasDatatype_t, which begin at 150. nullopt: it is
// none of these types.
std::optional<Element> element_of(std::uint64_t number);
// From the letter in the name of a function: s, d, h, c, z, small or large.
std::optional<Element> element_of_letter(char letter);

using Value = std::complex<double>;
// The value of the element that begins at `bytes`, of size_of(type) bytes at least.
Value value_of(Element type, std::span<const std::byte> bytes);
// The greatest finite value; 0: it does not matter.
double greatest_of(Element type);

}  // namespace fade::blas
