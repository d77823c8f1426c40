// The effects of rules of --inject and --replace on a program, in words.
#pragma once
#include <string>
#include <vector>

#include "cli/query/named_row.hpp"
#include "cli/query/overwritten.hpp"
#include "cli/query/recording.hpp"

namespace fade::query {

// "fade failed 3 calls on request"; empty without rules. `rows`: of page_injected.sql.
std::string injected_words(const std::vector<NamedRow>& rows);
// A sentence for each rule, the first 20.
Result<std::vector<RuleApplied>> injections_applied(Recording& recording, const table::Value& session);

}  // namespace fade::query
