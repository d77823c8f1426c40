// Ranges that programs put around their own work (roctx, NVTX): the open ones, and the rows of the ended ones. Ranges
// of push and pop belong to one thread and nest. Ranges of start and stop are found by their id, whichever thread stops
// them. Pushes and pops that do not match are counted. Other calls pay nothing for ranges: times show that a call lies
// in a range.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "probes/probe.hpp"
#include "store/histogram.hpp"
#include "store/rollups.hpp"
#include "store/step_book.hpp"
#include "store/write.hpp"

namespace fade::store {

// One call of a marker function that returned.
struct MarkerCall {
  probes::Kind kind{};
  CallId id = 0, parent = 0;
  CallRow call = 0;
  ProcessRow process = 0;
  ThreadRow thread = 0;
  std::int64_t entry = 0, exit = 0;
  std::int64_t result = 0;     // of start: the range's id; of pop: the level, negative if the library knew of no range
  std::uint64_t range_id = 0;  // of stop
  std::uint64_t domain = 0;    // NVTX: ranges nest within their domain
  std::optional<std::string> name;  // nullopt: it could not be read
  // Of PyTorch: push gives an object, and pop takes a part of it. Pops of other objects end no range of a program.
  bool has_object = false;
  std::uint64_t object = 0;
};

class RangeBook {
 public:
  RangeBook(sqlite::Db& db, Failure& failure, StepBook& steps);

  void call(const MarkerCall& call);
  // The open ranges of the thread are written as ended by the thread's end, not by the program.
  void end_thread(ThreadRow thread, std::int64_t at);
  void end_process(ProcessRow process, std::int64_t at);
  void exec_process(ProcessRow process, std::int64_t at);
  void end_recording(std::int64_t at);  // time of the last recorded event

  void keep_rows(bool keep) { keep_rows_ = keep; }
  void flush();  // writes sums, and rows of ranges that are still open

 private:
  enum class Form : std::uint8_t { Pushed, Started, Mark };
  enum class Ended : std::uint8_t { Closed, Thread, Process, Exec, Recording };
  struct Name {
    RangeNameRow row = 0;
    RangeNameRow sum_row = 0;  // under which it is summed up
    bool is_step = false;
  };
  struct Open {
    RangeRow id = 0;
    ProcessRow process = 0;
    ThreadRow thread = 0;
    RangeRow up = 0;
    CallRow call = 0;  // that began it
    std::int64_t at = 0;
    Name name;
    Form form{};
    std::uint64_t domain = 0, object = 0;
    std::size_t depth = 0;
    bool has_row = false;
  };
  struct Closing {
    std::int64_t at = 0;
    Ended how = Ended::Closed;
    CallRow call = 0;
    ThreadRow thread = 0;  // 0: none
  };
  struct Thread {
    ProcessRow process = 0;
    std::vector<Open> open;
    std::uint64_t too_deep = 0;  // pushed beyond the limit: their pops come first
    CallId handled = 0;          // the call inside which the last one was made, if any: it is the same range again
  };
  struct SumKey {
    ProcessRow process = 0;
    RangeNameRow name = 0;
    Form form{};
    auto operator<=>(const SumKey&) const = default;
  };
  struct Sum {
    std::uint64_t n = 0, unclosed = 0;
    std::int64_t total = 0, min = std::numeric_limits<std::int64_t>::max(), max = 0;
    Histogram histogram;
  };
  using StartKey = std::pair<ProcessRow, std::uint64_t>;  // process, id
  struct StartHash {
    std::size_t operator()(const StartKey& key) const {
      return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(key.first.value()) * 0x9E3779B97F4A7C15u ^
                                        key.second);
    }
  };

  void push(Thread& thread, const MarkerCall& call);
  void pop(Thread& thread, const MarkerCall& call);
  void start(Thread& thread, const MarkerCall& call);
  void stop(const MarkerCall& call);
  void mark(Thread& thread, const MarkerCall& call);
  Open opened(const Thread& thread, const MarkerCall& call, Form form);
  void close(Open& range, const Closing& closing);
  void end_started(ProcessRow process, const Closing& closing);  // process 0: of all
  void end_pushed(Thread& thread, const Closing& closing);
  void end_all(ProcessRow process, const Closing& closing);
  Name name_of(const std::optional<std::string>& text);
  Name new_name(const std::string& name);
  void fault(ProcessRow process, const char* kind);
  // `ns` nullopt: it is open.
  void write(Open& range, std::optional<std::int64_t> ns, const Closing& closing);

  StepBook& steps_;
  std::unordered_map<ThreadRow, Thread> threads_;
  std::unordered_map<StartKey, Open, StartHash> started_;
  std::unordered_map<std::string, Name> names_;
  std::map<SumKey, Sum> sums_;  // since the last flush
  std::map<std::pair<ProcessRow, std::string>, std::uint64_t> faults_;
  RangeRow last_id_;
  RangeNameRow last_name_;
  bool keep_rows_ = true;
  Write range_, name_, sum_, fault_;
};

}  // namespace fade::store
