// The formats of other tools that export knows.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "cli/table/bytes.hpp"
#include "cli/timeline/timeline.hpp"

namespace fade::query {

struct TimelineFormat {
  std::string_view word;
  std::unique_ptr<timeline::Writer> (*make)(table::Bytes&);
  bool is_binary = false, is_kineto = false;
  bool is_database = false;  // rocpd; it has no writer of tracks
};
std::span<const TimelineFormat> timeline_formats();
const TimelineFormat* find_timeline_format(std::string_view word);

struct TimelineEnding {
  std::string_view ending, word;
};
// Endings of file names that stand for one of them. ".gz" may follow.
std::span<const TimelineEnding> timeline_endings();
std::string_view timeline_format_of(std::string_view file);  // empty: of none

}  // namespace fade::query
