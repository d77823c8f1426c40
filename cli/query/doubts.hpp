// What a sentence must not claim, because not all was watched. The answers are the recording's view watched.
#pragma once
#include <string>
#include <string_view>

#include "cli/query/recording.hpp"
#include "cli/table/value.hpp"

struct sqlite3;

namespace fade::query {

// Why not every call of the topic (allocations, frees, launches ...) is known, as a clause; empty: all are. `session`
// NULL: of any session.
std::string why_partial(Recording& recording, const table::Value& session, std::string_view topic);
// The same for calls that came after one that was seen: a process that was running already is no reason.
std::string why_open(Recording& recording, const table::Value& session, std::string_view topic);
// Why calls of the topic that were seen may have no rows; empty: each has one.
std::string why_without_rows(Recording& recording, const table::Value& session, std::string_view topic);

// For a reader of rows or of a page: that not every call of the topic is known, and why; empty: all are. Of single
// calls
// (`rows`) also that some have no row.
std::string remark(Recording& recording, const table::Value& session, std::string_view topic, bool rows);

// A recording of an older fade lacks views that reports read: gives the connection views that say so. Before it is
// locked down.
void add_views_of_newer(sqlite3* db);

}  // namespace fade::query
