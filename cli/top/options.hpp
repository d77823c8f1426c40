// The command line of fade-top.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "cli/top/filter.hpp"
#include "cli/top/view.hpp"

namespace fade::cli::top {

struct Request {
  std::optional<Pid> target;  // attach to it
  std::string database;       // else show this one; both empty: the newest one that is under way
  std::optional<std::int64_t> interval_given, window_given, pid;
  std::int64_t interval_ns = 1'000'000'000, window_ns = 2'000'000'000;
  bool once = false;
  Order order = Order::Time;
  std::string filter_text;
  Filter filter;
};

const Program& program();
std::vector<Option> rows(Request& request);  // they point into it
Result<void> finish(Request& request, const std::vector<std::string>& words);

}  // namespace fade::cli::top
