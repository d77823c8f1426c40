// What a column means, and therefore how a person wants to see it. Machine formats print raw numbers and carry the
// unit in the column's name; only tables use the kind.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace fade::table {

enum class Kind {
  Text,
  Id,  // a number that names something: no thousands separators
  Count,
  Number,
  Duration,  // ns
  Net,       // ns without fade's own cost; 0: less than can be measured beside it
  Time,      // ns since the start of the session
  Bytes,
  Percent,  // drawn as a bar as well
  Trend,    // "3,0,7": drawn as a sparkline
  Hex,      // an address or handle
  YesNo,
  Json,     // a JSON value as text
  Command,  // a command line: in tables without folders, cut at its end
};

struct Column {
  std::string name;  // machine name: total_ns
  Kind kind = Kind::Text;
};

enum class Units { Auto, Ns, Us, Ms, S };

std::optional<Kind> kind_from_word(std::string_view word);  // as in the header of a report file
std::string_view kind_word(Kind kind);
Kind kind_from_name(std::string_view column);  // by suffix: _ns, _bytes ...
bool is_right_aligned(Kind kind);
std::string heading(const Column& column);  // "total" for total_ns
std::string_view units_word(Units units);   // "us"; "ns" for Auto
double units_per_ns(Units units);           // 1e-3 for Us

}  // namespace fade::table
