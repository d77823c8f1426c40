// The sections that a headline is made from: a function for each kind of trouble.
#pragma once
#include <span>
#include <vector>

#include "cli/query/headline.hpp"

namespace fade::query {

// `before`: the rows of the sections in front of it.
using HeadlineSection = Result<std::vector<HeadlineRow>> (*)(const Context& context, Recording& recording,
                                                             const std::vector<HeadlineRow>& before);
std::span<const HeadlineSection> headline_sections();  // what is worse first

}  // namespace fade::query
