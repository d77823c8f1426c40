// Calls of a part of the recording's time, found without an index on time: ids of calls are in order of entry, so the
// first one of a moment is found by halving.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/query/named_row.hpp"
#include "cli/query/serve_lanes.hpp"

namespace fade::query::live {

// The ids of the calls of a session: first and last.
struct Ids {
  std::int64_t first = 1, last = 0;
};
Result<Ids> ids_of(Recording& recording, const table::Value& session);

class IdSearch {
 public:
  // `page` gives the first row from :id on: its id, and a number that ascends with the ids.
  static Result<IdSearch> over(Recording& recording, std::string_view page, Ids ids);
  // The id of the first row at `time` or later: a call that began then. If there is none: the id behind the last row.
  Result<std::int64_t> first_at(std::int64_t time) { return first_at(time, ids_, 0); }
  // The id may be too low by up to `inexact`, which takes fewer steps.
  Result<std::int64_t> first_at(std::int64_t time, Ids within, std::int64_t inexact);

 private:
  IdSearch(Statement statement, Ids ids) : statement_(std::move(statement)), ids_(ids) {}
  Statement statement_;  // the first row from an id on
  Ids ids_;
};

struct CallRow {
  std::int64_t id = 0, start = 0, thread = 0, function = 0, parent = 0, launch = 0;
  std::optional<std::int64_t> end;  // none: it has not returned, as far as is known
  std::int64_t result = 0;
};

// The calls that overlap the window, by id: those with ids from `from` to before `to`, some before them that have not
// ended, and the calls around all of these.
Result<std::vector<CallRow>> calls_in(Recording& recording, Window window, Ids ids, std::int64_t from, std::int64_t to);

}  // namespace fade::query::live
