// A prepared statement that changes the database, and the first thing that went wrong with any of them. After a
// failure every further write does nothing: the recorder's owner looks at the Failure once per batch and gives up.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "store/row_ids.hpp"
#include "store/sqlite.hpp"

namespace fade::store {

struct Failure {
  std::optional<Error> error;

  void note(Error what) {
    if (!error) error = std::move(what);
  }
  explicit operator bool() const { return error.has_value(); }
};

class Write {
 public:
  Write(sqlite::Db& db, Failure& failure, std::string_view sql) : failure_(&failure) {
    if (Result<sqlite::Stmt> stmt = db.prepare(sql)) stmt_ = std::move(*stmt);
    else failure.note(std::move(stmt.error()));
  }

  template <class... A>
  void operator()(const A&... values) {
    if (*failure_) return;
    stmt_.bind(values...);
    if (Result<void> done = stmt_.run(); !done) failure_->note(std::move(done.error()));
  }

 private:
  sqlite::Stmt stmt_;
  Failure* failure_;
};

// How many more bytes of dispensable data may be written.
using Room = std::function<std::uint64_t()>;
inline std::uint64_t room_without_end() { return std::numeric_limits<std::uint64_t>::max(); }

// The last row of that table; 0: it is empty.
template <class Row>
Row last_row(sqlite::Db& db, const std::string& table) {
  return Row::of(db.integer("SELECT max(id) FROM " + table).value_or(0));
}

// `value`, or NULL if it is `nothing`, which an INTEGER column could not tell from a value.
inline std::optional<std::int64_t> unless(std::int64_t value, std::int64_t nothing) {
  return value == nothing ? std::nullopt : std::optional(value);
}
template <class Tag, class Rep>
std::optional<Id<Tag, Rep>> unless(Id<Tag, Rep> id, std::type_identity_t<Id<Tag, Rep>> nothing) {
  return id == nothing ? std::nullopt : std::optional(id);
}
inline std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace fade::store
