// The verdict of a session as a sentence.
#pragma once
#include <string>

#include "cli/query/named_row.hpp"

namespace fade::query {

// "USED: the GPU was used". `verdict`: a row of page_verdicts.sql.
std::string verdict_words(const NamedRow& verdict);

}  // namespace fade::query
