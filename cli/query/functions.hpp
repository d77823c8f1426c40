// SQL functions that fade-query adds to SQLite:
//   text REGEXP pattern                      POSIX extended regular expression, found anywhere in the text
//   fade_percentile(hist, share, min, max)   aggregate over call_stats.hist, in ns, within the smallest min and largest
//   max fade_trend(at, n, first, last)           aggregate: n added up in up to 40 equal parts of first..last, "0,3,7"
//   fade_args(call, function)                arguments of a call that are packed (packed_arguments.hpp)
//   fade_frames(stack, own)                  the frames of a stack in one text, outermost first (stack_text.hpp)
#pragma once
#include <sqlite3.h>

#include "cli/query/stack_text.hpp"

namespace fade::query {

void register_functions(sqlite3* db, StackTexts& stacks);  // which outlives the last statement

}  // namespace fade::query
