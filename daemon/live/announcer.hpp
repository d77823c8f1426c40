// Messages that a user needs at once: a hang and its end, the first out-of-memory of a process, a crash. One sentence
// each, once per process and kind. If they are wanted, the first failure of each function and error as well, and which
// functions are tapped. Reads the batches of the tracing side; one thread (the writer's).
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/batch_reader.hpp"
#include "live/live_names.hpp"
#include "probes/arguments.hpp"

namespace fade::live {

class Announcer final : public BatchReader {
 public:
  // `say` gets a sentence without an end of line. It must not wait.
  using Say = std::function<void(const std::string&)>;
  enum class Failures { OutOfMemory, FirstOfEachKind };
  Announcer(std::string folder, Say say, Failures failures = Failures::OutOfMemory)
      : names_(std::move(folder)), say_(std::move(say)), failures_(failures) {}

  void read(const Batch& batch) override;

 private:
  enum class Kind : std::uint8_t { Hang, HangEnded, OutOfMemory, Death };
  // The thread with the most information about a moment.
  struct Witness {
    int worth = -1;
    std::string call;        // empty: no open call
    CallId id = 0;           // 0: it began before fade attached
    std::int64_t since = 0;  // time of its entry
    std::string line;
  };
  struct Moment {
    Postmortem what;
    Witness witness;
    bool is_complete = false;
  };
  struct Hang {
    std::string call;
    std::int64_t since = 0;
    ProcessId process = 0;
  };

  void on(const Notice& notice);
  void end(ProcessId process);
  void begin(const Postmortem& what);
  void add(const ThreadSeen& seen);
  Witness witness_of(const Postmortem& what, const ThreadSeen& seen) const;
  void look_at(const CallRecord& record, probes::Payload payload);
  void failure(const CallRecord& record, const FunctionNames& function, const std::string& result);
  bool out_of_memory(const CallRecord& record, const FunctionNames& function, const std::string& result,
                     probes::Payload payload);
  void engine_changed(const Lifecycle& change);
  void end_of_hang(const CallRecord& record);
  void tell_complete();
  void tell(const Moment& moment);
  void tell_hang(const Moment& moment);
  void tell_death(const Moment& moment);
  bool is_first(ProcessId process, Kind kind) { return told_.emplace(process, kind).second; }

  LiveNames names_;
  Say say_;
  Failures failures_;
  std::set<std::pair<ProcessId, Kind>> told_;
  std::set<std::pair<std::string, std::string>> failed_;  // function and result, told
  std::unordered_map<PostmortemId, Moment> moments_;      // not reported yet
  std::unordered_map<CallId, Hang> hangs_;                // reported, and not over
};

}  // namespace fade::live
