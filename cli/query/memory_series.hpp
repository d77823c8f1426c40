// How much memory was in use over time, as columns of a plot for each process, device and kind. Many moments share a
// column, which has their highest value.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

// The memory of one kind that one process has on one device; with --merge that all processes have.
struct MemorySeries {
  std::string pid, device, kind;
  table::Value rank;
  std::int64_t peak = 0, peak_at = 0, end = 0, allocs = 0, frees = 0;
  std::int64_t left = 0;  // when the process or the recording ended
  std::vector<std::int64_t> columns;

  bool of_host() const { return kind == "host" || kind == "registered"; }
};

struct TimeSpan {
  std::int64_t first = 0, last = 0;
};

struct MemoryOverTime {
  std::map<std::string, MemorySeries> series;
  TimeSpan span;
};
// At most `width` columns; one, if all happened in one moment.
Result<MemoryOverTime> memory_series(const Context& context, Recording& recording, std::size_t width);

// "at most 3.00 MiB at +0.10 s, 1.00 MiB never freed; 3 allocations, 2 frees"
// `left`: the words for memory that was live at the end.
std::string memory_figures(const Context& context, const MemorySeries& series, std::string_view left);

}  // namespace fade::query
