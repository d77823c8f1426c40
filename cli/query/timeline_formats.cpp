#include "cli/query/timeline_formats.hpp"

#include <array>

#include "cli/timeline/json_events.hpp"
#include "cli/timeline/perfetto.hpp"

namespace fade::query {
namespace {

constexpr std::array<TimelineFormat, 4> kTimelineFormats{{{"perfetto", timeline::make_perfetto_writer, true},
                                                          {"chrome", timeline::make_chrome_writer},
                                                          {"kineto", timeline::make_kineto_writer, false, true},
                                                          {"rocpd", nullptr, true, false, true}}};
constexpr std::array<TimelineEnding, 5> kTimelineEndings{{{".pftrace", "perfetto"},
                                                          {".perfetto-trace", "perfetto"},
                                                          {".pt.trace.json", "kineto"},
                                                          {".trace.json", "chrome"},
                                                          {".db", "rocpd"}}};

}  // namespace

std::span<const TimelineFormat> timeline_formats() { return kTimelineFormats; }

const TimelineFormat* find_timeline_format(std::string_view word) {
  for (const TimelineFormat& format : kTimelineFormats)
    if (format.word == word) return &format;
  return nullptr;
}

std::span<const TimelineEnding> timeline_endings() { return kTimelineEndings; }

std::string_view timeline_format_of(std::string_view file) {
  const bool packed = file.ends_with(".gz");
  if (packed) file.remove_suffix(3);
  for (const TimelineEnding& e : kTimelineEndings)
    if (file.ends_with(e.ending) && !(packed && find_timeline_format(e.word)->is_database)) return e.word;
  return {};
}

}  // namespace fade::query
