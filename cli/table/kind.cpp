#include "cli/table/kind.hpp"

#include <array>
#include <utility>

namespace fade::table {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 14> kWords{{
    {"text", Kind::Text},
    {"id", Kind::Id},
    {"count", Kind::Count},
    {"number", Kind::Number},
    {"duration", Kind::Duration},
    {"time", Kind::Time},
    {"bytes", Kind::Bytes},
    {"percent", Kind::Percent},
    {"trend", Kind::Trend},
    {"hex", Kind::Hex},
    {"yesno", Kind::YesNo},
    {"json", Kind::Json},
    {"net", Kind::Net},
    {"command", Kind::Command},
}};

struct Suffix {
  std::string_view text;
  Kind kind;
};
constexpr std::array<Suffix, 4> kSuffixes{{
    {"_ns", Kind::Duration},
    {"_bytes", Kind::Bytes},
    {"percent", Kind::Percent},
    {"_id", Kind::Id},
}};

struct UnitRow {
  std::string_view word;
  Units units;
  double per_ns;
};
constexpr std::array<UnitRow, 5> kUnits{{
    {"auto", Units::Auto, 1},
    {"ns", Units::Ns, 1},
    {"us", Units::Us, 1e-3},
    {"ms", Units::Ms, 1e-6},
    {"s", Units::S, 1e-9},
}};

const UnitRow& row_of(Units units) {
  for (const UnitRow& row : kUnits)
    if (row.units == units) return row;
  return kUnits.front();
}

}  // namespace

std::optional<Kind> kind_from_word(std::string_view word) {
  for (const auto& [text, kind] : kWords)
    if (text == word) return kind;
  return std::nullopt;
}

std::string_view kind_word(Kind kind) {
  for (const auto& [text, k] : kWords)
    if (k == kind) return text;
  return "text";
}

Kind kind_from_name(std::string_view column) {
  for (const Suffix& s : kSuffixes)
    if (column.ends_with(s.text)) return s.kind;
  return Kind::Text;
}

bool is_right_aligned(Kind kind) {
  return kind != Kind::Text && kind != Kind::Trend && kind != Kind::YesNo && kind != Kind::Json &&
         kind != Kind::Command;
}

std::string heading(const Column& column) {
  std::string_view name = column.name;
  for (const std::string_view unit : {std::string_view("_ns"), std::string_view("_bytes")})
    if (name.size() > unit.size() && name.ends_with(unit)) name.remove_suffix(unit.size());
  if (name == "percent") return "%";
  std::string text(name);
  for (char& c : text)
    if (c == '_') c = ' ';
  return text;
}

std::string_view units_word(Units units) { return units == Units::Auto ? "ns" : row_of(units).word; }
double units_per_ns(Units units) { return row_of(units).per_ns; }

}  // namespace fade::table
