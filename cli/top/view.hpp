// The rows of fade top, in their order, with rates of a window and totals. A pure function of Sums and a Choice: knows
// neither recordings nor terminals.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/filter.hpp"
#include "cli/top/sums.hpp"

namespace fade::cli::top {

enum class Order : std::uint8_t { Time, Calls, Errors, Name };
inline constexpr std::string_view kOrderNames[] = {"time", "calls", "errors", "name"};
Order next(Order order);

struct Choice {
  std::int64_t process = 0;  // of the recording; 0: all
  Order order = Order::Time;
  Filter filter;
};

struct Rates {               // of the window
  double calls = 0;          // a second
  double errors = 0;         // a second
  double launches = 0;       // a second
  double time = 0;           // share of the window; above 1 if several threads or streams were in it at once
  std::int64_t calls_n = 0;  // in the window
  std::int64_t time_ns = 0;
  double samples = 0;  // share of all samples of the window
};

struct Item {
  std::string name;
  std::optional<Rates> rates;
  std::int64_t calls = 0, errors = 0, total_ns = 0, samples = 0;
};

struct ProcessItem {
  std::int64_t id = 0, pid = 0;
  std::string command;
  bool ended = false;
  std::optional<Rates> rates;  // time: in calls that wait for the GPU
  std::int64_t calls = 0, errors = 0, launches = 0, waited_ns = 0, memory = 0;
  bool memory_before = false;  // as in ProcessSums
};

struct View {  // the content of the screen: a field is a part of it
  std::int64_t since_ns = 0;
  std::int64_t window_ns = 0;  // that the rates are of; 0: there are none yet
  bool clean = false;
  bool kernels_on_gpu = false;
  bool kernels_of_all = false;  // launches are not kept apart by process, so kernels of all are shown
  std::int64_t gpus = 0;
  bool without_hip = false;  // no process has loaded a HIP library
  ProcessItem whole;         // all processes together, or the chosen one
  std::vector<ProcessItem> processes;
  std::vector<Item> functions, kernels, lines;
  std::size_t functions_hidden = 0, kernels_hidden = 0, lines_hidden = 0;  // by the filter
  std::vector<Device> devices;
  std::vector<Failure> failures;
  std::vector<Drop> drops;
  std::string cost;
};

// `base`: earlier sums of the same session, or nullptr.
View make_view(const Sums* base, const Sums& now, const Choice& choice);

}  // namespace fade::cli::top
