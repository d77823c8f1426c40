// Steps of a program (a training step, a request, a frame). --step sets their begin: each range of a name, or from one
// call of a function to the next. The calls meanwhile are added up per step and function, so that a slow step can be
// compared with the usual one without reading every call.
//
// A call belongs to the open step of its own thread. If there is none, as in the threads of PyTorch's backward pass, it
// belongs to the open step of its process if there is just one. Without --step all of this does nothing.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/recording.hpp"
#include "store/detail_window.hpp"
#include "store/memory_ledger.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// A call as steps see it.
struct StepCall {
  ProcessId process_id = 0;  // of the session, for the ledger
  CallRow call = 0;
  ProcessRow process = 0;
  ThreadRow thread = 0;
  FunctionRow function = 0;
  std::int64_t exit = 0, ns = 0, self = 0;
  bool failed = false, outermost = false;
  std::uint64_t launches = 0;
  bool waits = false;
};

class StepBook {
 public:
  struct Where {
    ProcessRow process = 0;
    ThreadRow thread = 0;
  };
  struct End {
    CallRow call = 0;  // that ended it; 0: none did
    std::int64_t at = 0;
    bool complete = false;
  };

  StepBook(sqlite::Db& db, Failure& failure, StepRule rule, const MemoryLedger& memory, DetailWindow& detail);

  bool has_rule() const { return rule_.by != StepRule::By::None; }  // else there are no steps
  bool begins_with_range(const std::string& name) const;
  bool begins_with_call(const std::string& function) const;

  // `range` names it until it is closed. A range within an open step of the same thread is no step.
  void range_opened(RangeRow range, Where where, const std::string& name, CallRow call, std::int64_t at);
  void range_closed(RangeRow range, const End& end);

  // The step that a call of this thread belongs to; 0: none.
  StepRow open_step(ProcessRow process, ThreadRow thread) {
    const Step* step = step_of(process, thread);
    return step && written_ < kMostSteps ? step->id : StepRow(0);
  }
  void call(const StepCall& call);
  void copied(ProcessRow process, ThreadRow thread, std::int64_t bytes);  // by the next call that call() gets
  // A call of the function that separates steps returned: after call().
  void separated(const StepCall& call, const std::string& function);

  void thread_ended(ThreadRow thread, std::int64_t at);
  void process_ended(ProcessRow process, std::int64_t at);
  void process_known(ProcessRow process, ProcessId id) { ids_[process] = id; }
  void finish(SessionRow session, std::int64_t at);

 private:
  static constexpr std::uint64_t kMostSteps = 200'000;  // that have rows

  struct FunctionSum {
    FunctionRow function = 0;
    std::uint64_t n = 0, errors = 0;
    std::int64_t self = 0;
  };
  struct Step {  // one row of step_, while it is added up
    StepRow id = 0;
    RangeRow range = 0;
    CallRow call = 0;
    Where where;
    std::string name;
    std::int64_t index = 0, at = 0, live = 0;  // live: bytes of GPU memory when it began
    std::uint64_t calls = 0, errors = 0, launches = 0, copies = 0;
    std::int64_t copied = 0, in_calls = 0, waited = 0;
    std::vector<FunctionSum> functions;
  };
  struct Series {  // of one thread
    ProcessRow process = 0;
    std::int64_t next = 1;
    std::uint64_t separators = 0;
    bool is_open = false;
    Step step;
  };

  Step* step_of(ProcessRow process, ThreadRow thread);
  void open(RangeRow range, Where where, const std::string& name, CallRow call, std::int64_t at);
  void close(Series& series, const End& end);
  void write(const Step& step, const End& end, std::int64_t growth);

  const StepRule rule_;
  const MemoryLedger& memory_;
  DetailWindow& detail_;
  std::unordered_map<ThreadRow, Series> series_;                    // by thread
  std::unordered_map<ProcessRow, std::vector<ThreadRow>> open_in_;  // process -> threads with an open step
  std::unordered_map<RangeRow, ThreadRow> by_range_;                // -> thread
  std::unordered_map<ProcessRow, ProcessId> ids_;
  StepRow last_id_;
  std::uint64_t written_ = 0, left_out_ = 0;
  Write step_, stat_, drop_;
};

}  // namespace fade::store
