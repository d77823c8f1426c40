// --detail: how closely calls are recorded, by groups of functions.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/recording.hpp"

namespace fade {

struct DetailLevels {
  Detail rest = Detail::Calls;                         // of functions that no word names
  std::map<std::string, Detail, std::less<>> by_name;  // of a group or an API; a group's level is before its API's

  DetailLevels() = default;
  DetailLevels(Detail all) : rest(all) {}  // implicit: one level is the common case

  Detail of(std::string_view api, std::string_view group) const;
  // Some functions have rows of calls.
  bool has_rows() const;
  // "calls", or a list as users write it, the level of the rest first: "calls,mem=full,sync=stats".
  std::string text() const;

  friend bool operator==(const DetailLevels&, const DetailLevels&) = default;
};

std::string_view word_for(Detail level);

}  // namespace fade
