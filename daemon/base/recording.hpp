// The form of a recording: choices of the command line that the store implements.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fade {

enum class Detail : std::uint8_t {
  Stats,  // rollups only
  Calls,  // one row per call, arguments of launches, copies, allocations, errors and rare calls
  Full,   // and the arguments of every call
};
enum class CaptureEngine : std::uint8_t {  // how calls are seen
  Auto,                                    // breakpoints, and taps for functions that are called often
  Breakpoints,
  Taps,  // from the first call; and breakpoints for what they cannot see
};
enum class OnFull : std::uint8_t { Stop, Stats, DropCalls };  // the action when the database reaches its size limit
enum class OpenMode : std::uint8_t { Create, Overwrite, Append };

// --step: the beginning of a program's steps.
struct StepRule {
  enum class By : std::uint8_t {
    None,
    Range,  // each range (roctx, NVTX) whose name matches
    Call,   // from one call of a function to the next
  };
  By by = By::None;
  std::string pattern;      // of the range's or function's name
  std::uint64_t every = 1;  // only every Nth of these calls
};

// --schedule, --window, --trigger: when rows of calls are stored. Sums are kept at all times.
struct DetailRule {
  enum class By : std::uint8_t {
    Always,
    Steps,    // in chosen steps of the program
    Time,     // in the first part of each period
    Trigger,  // around moments of trouble
  };
  By by = By::Always;
  std::string text;  // the option, for the recording to tell
  // Steps, as PyTorch's profiler counts them. A cycle is wait, warmup, active; repeat 0: cycles go on to the end.
  std::uint64_t skip = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
  std::int64_t period_ns = 0, detail_ns = 0;  // Time
  // Trigger: rows are kept from keep_ns before a trigger to keep_ns after it. A condition that is 0 or false is off.
  std::int64_t keep_ns = 30'000'000'000;
  bool on_error = false, on_mark = false;
  double slow_step = 0;      // times the median of the steps before
  std::uint64_t memory = 0;  // bytes of GPU memory in use, above which it fires
  int signal = 0;            // that the program receives
};

// Begins the reason of a Drop: the results of so many calls are missing, but not the calls. The cause follows.
inline constexpr std::string_view kReturnsNotSeen = "results of calls (the calls themselves are recorded): ";
// The reason of a Drop: calls of libraries that -e NAME@LIBRARY leaves out.
inline constexpr std::string_view kOtherCallers = "calls of other libraries than -e names";
// The reason of a Drop: stacks are missing, but not calls.
inline constexpr std::string_view kStacksNotKept =
    "stacks were not kept (not calls): there are too many different ones";

}  // namespace fade
