// Below an export: what a reader of its rows alone could not know.
#pragma once
#include "cli/query/recording.hpp"

namespace fade::query {

// Says on stderr which calls are missing, in an export of `exported` calls.
void tell_what_is_missing(Recording& recording, const table::Value& session, std::int64_t exported);

}  // namespace fade::query
