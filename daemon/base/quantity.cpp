#include "base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

namespace fade {
namespace {

struct QuantityUnit {
  std::string_view name;
  double factor;
};
constexpr std::array kTimeUnits{QuantityUnit{"", 1e9},     QuantityUnit{"s", 1e9},    QuantityUnit{"ms", 1e6},
                                QuantityUnit{"us", 1e3},   QuantityUnit{"ns", 1},     QuantityUnit{"m", 60e9},
                                QuantityUnit{"min", 60e9}, QuantityUnit{"h", 3600e9}, QuantityUnit{"d", 86400e9}};
constexpr double kKibi = 1024;
constexpr std::array kSizeUnits{QuantityUnit{"", 1},
                                QuantityUnit{"b", 1},
                                QuantityUnit{"k", kKibi},
                                QuantityUnit{"m", kKibi* kKibi},
                                QuantityUnit{"g", kKibi* kKibi* kKibi},
                                QuantityUnit{"t", kKibi* kKibi* kKibi* kKibi}};
constexpr double kMostUnits = 9.2e18;  // both kinds stay below 2^63

struct Quantity {
  double number = 0;
  std::string unit;  // lower case
};

// Digits with at most one point, then letters. Neither strtod nor from_chars: no "inf", "1e9", "0x10", no locale.
std::optional<Quantity> split_quantity(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view digits = text.substr(0, end);
  if (digits.find_first_of("0123456789") == std::string_view::npos || std::ranges::count(digits, '.') > 1) return {};
  Quantity quantity;
  double place = 0;
  for (const char c : digits) {
    if (c == '.') {
      place = 1;
    } else {
      quantity.number = quantity.number * 10 + (c - '0');
      place *= 10;
    }
  }
  if (place > 0) quantity.number /= place;
  for (const char c : text.substr(end)) quantity.unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return quantity;
}

template <std::size_t N>
std::optional<double> scaled(const Quantity& quantity, const std::array<QuantityUnit, N>& units) {
  const auto unit = std::ranges::find(units, quantity.unit, &QuantityUnit::name);
  if (unit == units.end() || quantity.number * unit->factor >= kMostUnits) return {};
  return quantity.number * unit->factor;
}

}  // namespace

Result<std::int64_t> parse_time(std::string_view text) {
  const auto quantity = split_quantity(text);
  const auto value = quantity ? scaled(*quantity, kTimeUnits) : std::nullopt;
  if (!value) return fail(fmt::format("'{}' is not a time", text), {}, "write 500ms, 30s, 5m or 1h");
  return static_cast<std::int64_t>(*value);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  auto quantity = split_quantity(text);
  if (quantity && quantity->unit.size() > 1) {  // KB, KiB
    if (quantity->unit.ends_with("ib")) quantity->unit.resize(1);
    else if (quantity->unit.size() == 2 && quantity->unit.back() == 'b') quantity->unit.resize(1);
  }
  const auto value = quantity ? scaled(*quantity, kSizeUnits) : std::nullopt;
  if (!value) return fail(fmt::format("'{}' is not a size", text), {}, "write 512K, 100M or 2G");
  return static_cast<std::uint64_t>(*value);
}

}  // namespace fade
