// One cell of a result, as SQLite knows it. Owned by whoever reads the row; knows nothing of its meaning (see
// kind.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <variant>

namespace fade::table {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

inline bool is_null(const Value& v) { return std::holds_alternative<std::monostate>(v); }

}  // namespace fade::table
