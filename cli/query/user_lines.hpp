// Which line of a stack is the user's own: the views frame_places, user_frames and user_lines of this fade are put in
// front of those of the file, so that recordings of older fades have them and --skip-frames counts. So is
// memory_growth, which the report leaks needs. A recording of this fade has the same views, and needs no others.
#pragma once
#include <string>

#include "base/result.hpp"
#include "cli/query/database.hpp"

namespace fade::query {

// `skip`: frames whose file or function matches this regular expression are wrappers, too; empty: none. Fails where it
// is no regular expression. May be called again with another one.
Result<void> use_user_lines(Database& database, const std::string& skip);

}  // namespace fade::query
