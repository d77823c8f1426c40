#include "cli/timeline/nesting.hpp"

#include <algorithm>
#include <limits>

namespace fade::timeline {

Result<void> Nesting::end_until(std::uint64_t track, Ends& ends, std::int64_t time) {
  for (; !ends.empty() && ends.back() && *ends.back() <= time; ends.pop_back())
    if (auto done = end_(track, *ends.back()); !done) return done;
  return {};
}

Result<std::optional<std::int64_t>> Nesting::open(std::uint64_t track, std::int64_t start,
                                                  std::optional<std::int64_t> end) {
  Ends& ends = open_[track];
  if (auto done = end_until(track, ends, start); !done) return tl::unexpected(done.error());
  if (!ends.empty() && ends.back()) end = std::min(end.value_or(*ends.back()), *ends.back());
  if (end) end = std::max(*end, start);
  ends.push_back(end);
  return end;
}

Result<void> Nesting::finish() {
  for (auto& [track, ends] : open_)
    if (auto done = end_until(track, ends, std::numeric_limits<std::int64_t>::max()); !done) return done;
  open_.clear();
  return {};
}

}  // namespace fade::timeline
