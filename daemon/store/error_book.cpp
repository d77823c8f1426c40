#include "store/error_book.hpp"

namespace fade::store {
namespace {
constexpr std::size_t kMostKeys = 50'000;  // beyond it, callers are no longer told apart
}  // namespace

ErrorBook::ErrorBook(sqlite::Db& db, Failure& failure)
    : last_(last_row<ErrorRow>(db, "error_")),
      insert_(db, failure, "INSERT INTO error_ VALUES (?1,?2,?3,?3,?4,?5,?6,?7,?8,?9,1)"),
      injected_(db, failure, "INSERT INTO injected_error_ VALUES (?,?)"),
      fold_(db, failure, "UPDATE error_ SET n = ?2, ts_last = ?3 WHERE id = ?1"),
      name_(db, failure, "INSERT OR IGNORE INTO result_name_ VALUES (?,?,?,?)"),
      unname_(db, failure, "DELETE FROM result_name_ WHERE fn = ? AND code = ?") {}

bool ErrorBook::add(const FailedCall& call, const std::function<std::string()>& args) {
  const bool crowded = seen_.size() >= kMostKeys;
  Seen& seen = seen_[{call.function, crowded ? SiteRow() : call.caller, call.code, call.is_injected, call.is_replaced}];
  if (seen.rows > kRowsEach) {
    ++seen.folded;
    seen.last = call.at;
    seen.changed = true;
    return false;
  }
  ++seen.rows;
  insert_(++last_, call.call, call.at, call.thread, call.function, unless(call.caller, 0), call.code,
          unless_empty(call.name), args());
  if (call.is_injected || call.is_replaced) injected_(last_, call.is_replaced);
  if (seen.rows > kRowsEach) {  // this one will stand for all that follow
    seen.fold = last_;
    seen.folded = 1;
  }
  return true;
}

void ErrorBook::name_result(FunctionRow function, std::int64_t code, const std::string& name, bool failed) {
  if (named_.size() >= kMostResults || !named_.insert({function, code}).second) return;
  if (!name.empty()) name_(function, code, name, failed);
}

void ErrorBook::name_text(FunctionRow function, std::int64_t code, const std::string& text) {
  const auto known = texts_.find({function, code});
  if (known == texts_.end()) {
    if (!has_room_for_numbers()) return;
    texts_.emplace(ResultKey{function, code}, text);
    return name_result(function, code, text, false);
  }
  if (known->second.empty() || known->second == text) return;
  known->second.clear();
  unname_(function, code);
}

void ErrorBook::flush() {
  for (auto& [key, seen] : seen_) {
    if (!seen.changed) continue;
    fold_(seen.fold, seen.folded, seen.last);
    seen.changed = false;
  }
}

}  // namespace fade::store
