#include "numbers/dtype.hpp"

#include <bit>
#include <cmath>
#include <iterator>

namespace fade::numbers {
namespace {

struct Row {
  Dtype type;
  std::string_view name;
  std::size_t size;
  bool is_float;
};
constexpr Row kTypes[] = {{Dtype::Unknown, "", 1, false}, {Dtype::F64, "f64", 8, true},   {Dtype::F32, "f32", 4, true},
                          {Dtype::F16, "f16", 2, true},   {Dtype::BF16, "bf16", 2, true}, {Dtype::I64, "i64", 8, false},
                          {Dtype::I32, "i32", 4, false},  {Dtype::I16, "i16", 2, false},  {Dtype::I8, "i8", 1, false},
                          {Dtype::U8, "u8", 1, false}};

const Row& row_of(Dtype type) { return kTypes[static_cast<std::size_t>(type)]; }

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

}  // namespace

std::string_view name_of(Dtype type) { return row_of(type).name; }
std::size_t size_of(Dtype type) { return row_of(type).size; }
bool is_float(Dtype type) { return row_of(type).is_float; }

std::optional<Dtype> dtype_named(std::string_view name) {
  for (const Row& row : kTypes)
    if (!row.name.empty() && row.name == name) return row.type;
  return std::nullopt;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> out;
  for (const Row& row : kTypes)
    if (!row.name.empty()) out.emplace_back(row.name);
  return out;
}

double value_of(Dtype type, std::uint64_t bits) {
  switch (type) {
    case Dtype::F64: return std::bit_cast<double>(bits);
    case Dtype::F32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Dtype::BF16: return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    case Dtype::F16: return half_value(static_cast<std::uint16_t>(bits));
    case Dtype::I64: return static_cast<double>(static_cast<std::int64_t>(bits));
    case Dtype::I32: return static_cast<std::int32_t>(bits);
    case Dtype::I16: return static_cast<std::int16_t>(bits);
    case Dtype::I8: return static_cast<std::int8_t>(bits);
    case Dtype::U8:
    case Dtype::Unknown: return static_cast<std::uint8_t>(bits);
  }
  return 0;
}

}  // namespace fade::numbers
