#include "cli/attach/live_line.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::attach {
namespace {

constexpr std::string_view kSeparator = "  ";

std::string more_bytes(std::uint64_t n) { return "+" + table::human_bytes(static_cast<std::int64_t>(n)); }

std::string clock_of(std::int64_t ns) {
  const std::int64_t seconds = ns / 1'000'000'000;
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string joined(const std::vector<std::string>& fields, std::size_t columns) {
  std::string line;
  for (const std::string& field : fields) {
    const std::string longer = line.empty() ? field : line + std::string(kSeparator) + field;
    if (table::display_width(longer) > columns) break;
    line = longer;
  }
  return line;
}

}  // namespace

double LiveLine::calls_per_second(const LiveNumbers& now) {
  const auto passed = static_cast<double>(now.elapsed_ns - last_.elapsed_ns) * 1e-9;
  const double calls = now.calls > last_.calls ? static_cast<double>(now.calls - last_.calls) : 0;
  return passed > 0 ? calls / passed : 0;
}

std::string LiveLine::next(const LiveNumbers& now, std::size_t columns) {
  std::vector<std::string> fields{fmt::format("{} {}", utf8_ ? "●" : "*", clock_of(now.elapsed_ns)),
                                  fmt::format("{} calls/s", short_count(calls_per_second(now))),
                                  fmt::format("mem {} since attach", more_bytes(now.memory_bytes)),
                                  fmt::format("err {}", short_count(static_cast<double>(now.errors)))};
  if (now.dropped > 0) fields.push_back(fmt::format("dropped {}", short_count(static_cast<double>(now.dropped))));
  fields.push_back(fmt::format("db {}", table::human_bytes(static_cast<std::int64_t>(now.database_bytes))));
  fields.push_back(hint_);
  fields.push_back("peak " + more_bytes(now.peak_bytes));
  last_ = now;
  return joined(fields, columns);
}

}  // namespace fade::cli::attach
