#include "probes/injections/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/suggest.hpp"
#include "probes/device_properties.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

bool has_sign(TypeClass cls) { return cls == TypeClass::Signed || cls == TypeClass::Char || cls == TypeClass::Enum; }

std::string_view words_for(const Type& type) {
  if (type.cls == TypeClass::Bool) return "a truth value";
  if (type.cls == TypeClass::Pointer || type.cls == TypeClass::Handle) return "an address";
  if (type.size == 8) return has_sign(type.cls) ? "a signed number of 64 bits" : "a number of 64 bits";
  return has_sign(type.cls) ? "a signed number of 32 bits" : "a number of 32 bits";
}

struct Number {
  bool is_negative = false;
  std::uint64_t magnitude = 0;
  bool is_too_large = false;
};

unsigned take_suffix(std::string_view& text) {
  std::string_view body = text;
  if (body.ends_with("iB")) body.remove_suffix(2);
  if (body.size() < 2 || body.starts_with("0x")) return 0;
  const std::size_t unit = std::string_view("KMGT").find(body.back());
  if (unit == std::string_view::npos) return 0;
  body.remove_suffix(1);
  text = body;
  return 10 * (static_cast<unsigned>(unit) + 1);
}

std::optional<Number> number_in(std::string_view text) {
  Number out;
  if (text.starts_with('-')) out.is_negative = true, text.remove_prefix(1);
  const unsigned shift = take_suffix(text);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.magnitude, is_hex ? 16 : 10);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  out.is_too_large = error == std::errc::result_out_of_range || (out.magnitude << shift >> shift) != out.magnitude;
  out.magnitude <<= shift;
  return out;
}

// The least and the greatest value of the type, both as magnitudes.
std::pair<std::uint64_t, std::uint64_t> limits_of(const Type& type) {
  if (type.cls == TypeClass::Bool) return {0, 1};
  const unsigned bits = 8 * std::min<unsigned>(type.size, 8);
  const std::uint64_t all = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (!has_sign(type.cls)) return {0, all};
  return {(all >> 1) + 1, all >> 1};
}

Result<std::uint64_t> checked(const Type& type, const Number& number, std::string_view text) {
  const auto [least, most] = limits_of(type);
  if (!number.is_too_large && number.magnitude <= (number.is_negative ? least : most))
    return number.is_negative ? 0 - number.magnitude : number.magnitude;
  return fail("", fmt::format("'{}' does not fit: {} is {}", escaped(text), type.name, words_for(type)),
              fmt::format("use a number from {}{} to {}", least == 0 ? "" : "-", least, most));
}

std::span<const EnumValue> names_of(const Type& type, const Types& types) {
  const TypeDeclaration* declared = types.find(type.name);
  return declared ? std::span<const EnumValue>(declared->values) : std::span<const EnumValue>();
}

// Also without the prefix that all names of HIP's enums have: OutOfMemory is hipErrorOutOfMemory.
const EnumValue* named(std::span<const EnumValue> values, std::string_view name) {
  const auto it = std::ranges::find(values, name, &EnumValue::name);
  if (it != values.end()) return &*it;
  for (const std::string_view prefix : {"hipError", "hip", "CUDA_ERROR_", "HIPRTC_ERROR_"})
    if (const auto found = std::ranges::find(values, std::string(prefix) + std::string(name), &EnumValue::name);
        found != values.end())
      return &*found;
  return nullptr;
}

tl::unexpected<Error> no_value(const Type& type, std::span<const EnumValue> values, std::string_view text) {
  std::vector<std::string> names;
  for (const EnumValue& value : values) names.push_back(value.name);
  const std::string near = nearest(text, names);
  if (names.empty())
    return fail("", fmt::format("'{}' is no number", escaped(text)), "write it like 72, 0x48, or 16M for bytes");
  return fail("", fmt::format("{} has no value '{}'", type.name, escaped(text)),
              near.empty() ? fmt::format("write a number, or a name like {}", names.front())
                           : fmt::format("did you mean '{}'?", near));
}

Result<std::uint64_t> float_word(const Type& type, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
    return fail("", fmt::format("'{}' is no number", escaped(text)), "write it like 0.5, -1e-3, inf or nan");
  const bool is_short = type.size == sizeof(float);
  const auto most = static_cast<double>(std::numeric_limits<float>::max());
  const bool is_finite = std::isfinite(value);
  if (error != std::errc{} || (is_short && is_finite && std::abs(value) > most))
    return fail(
        "", fmt::format("'{}' does not fit: {} is a number of {} bits", escaped(text), type.name, 8 * type.size),
        is_short ? "use a number from -3.4e38 to 3.4e38, or inf" : "use a number from -1.7e308 to 1.7e308, or inf");
  if (!is_short) return std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

Result<std::uint64_t> one_value(const Type& type, std::string_view text, const Types& types) {
  if (const auto number = number_in(text)) return checked(type, *number, text);
  if (type.cls == TypeClass::Bool && (text == "true" || text == "false")) return text == "true" ? 1 : 0;
  const bool is_address = type.cls == TypeClass::Pointer || type.cls == TypeClass::Handle;
  if (is_address && (text == "null" || text == "NULL" || text == "nullptr")) return 0;
  const auto values = names_of(type, types);
  if (const EnumValue* value = named(values, text)) return static_cast<std::uint64_t>(value->value);
  return no_value(type, values, text);
}

}  // namespace

bool is_number(const Type& type) {
  switch (type.cls) {
    case TypeClass::Bool:
    case TypeClass::Char:
    case TypeClass::Signed:
    case TypeClass::Unsigned:
    case TypeClass::Size:
    case TypeClass::Pointer:
    case TypeClass::Handle:
    case TypeClass::Enum:
    case TypeClass::Flags: return type.size > 0 && type.size <= 8;
    case TypeClass::Void:
    case TypeClass::Float:
    case TypeClass::Double:
    case TypeClass::CString:
    case TypeClass::Dim3:
    case TypeClass::Struct:
    case TypeClass::Tensor:
    case TypeClass::Integers: return false;
  }
  return false;
}

bool is_float(const Type& type) {
  return (type.cls == TypeClass::Float && type.size == 4) || (type.cls == TypeClass::Double && type.size == 8);
}

double float_value(const Type& type, std::uint64_t word) {
  if (type.size == sizeof(double)) return std::bit_cast<double>(word);
  return std::bit_cast<float>(static_cast<std::uint32_t>(word));
}

Result<std::uint64_t> parse_argument(const Type& type, std::string_view text, const Types& types) {
  if (is_float(type)) return float_word(type, text);
  if (type.cls != TypeClass::Flags) return one_value(type, text, types);
  std::uint64_t out = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    const auto bit = one_value(type, text.substr(at, end - at), types);
    if (!bit) return tl::unexpected(bit.error());
    out |= *bit;
    at = end + 1;
  }
  return out;
}

Result<std::int64_t> parse_error_value(const Probe& probe, std::string_view text) {
  const auto value = parse_argument(probe.result, text, types_of(probe));
  if (!value) return tl::unexpected(value.error());
  const auto error = static_cast<std::int64_t>(extended(probe.result, *value));
  if (error != probe.success) return error;
  return fail("", fmt::format("{} is no error of {}", escaped(text), probe.symbol),
              fmt::format("give an error, or replace the result: {}.result={}", probe.symbol, escaped(text)));
}

std::string shown_value(const Type& type, std::uint64_t value, const Types& types) {
  std::string out;
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  append_value(out, type, std::span(bytes).first(std::min<std::size_t>(type.size, bytes.size())), {.types = types});
  return out;
}

std::uint64_t extended(const Type& type, std::uint64_t word) {
  const unsigned spare = 64 - 8 * std::clamp<unsigned>(type.size, 1, 8);
  if (!has_sign(type.cls)) return word << spare >> spare;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << spare) >> spare);
}

}  // namespace fade::probes
