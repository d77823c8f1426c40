// Processes of distributed jobs as reports name them. Their ranks are the view process_ranks.
#pragma once
#include <string>

#include "cli/query/database.hpp"

namespace fade::query {

// True if a process of the recording has a rank: only then reports show the column.
bool has_ranks(Database& database);

// "rank 1 (process 4711)", or "process 4711" without a rank.
std::string process_words(const table::Value& rank, const std::string& pid);

}  // namespace fade::query
