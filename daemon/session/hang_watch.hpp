// Finds the processes that seem to hang: calls are running, and for a time no call began or ended. Polling calls do not
// count as progress, so a watchdog thread cannot hide a hang. Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/pid.hpp"
#include "session/function_table.hpp"
#include "session/roster.hpp"

namespace fade {

class HangWatch {
 public:
  // `patience`: for how many nanoseconds calls run before their process hangs. 0: no process ever does.
  explicit HangWatch(std::int64_t patience) : patience_(patience) {}

  static void call_began(Inferior& inferior, const Entry& entry) { saw(inferior, entry, std::nullopt); }
  // `result`: the word that the call returned; nullopt: it was not seen.
  static void call_ended(Inferior& inferior, const Entry& entry, std::optional<std::uint64_t> result) {
    saw(inferior, entry, result);
  }

  // Returns the processes that hang since the last look, each of them once until a call begins or ends there. `now`:
  // session time.
  std::vector<Pid> look(const Roster::Processes& processes, std::int64_t now);

 private:
  static void saw(Inferior& inferior, const Entry& entry, std::optional<std::uint64_t> result);
  bool begins_to_hang(Inferior& inferior, std::int64_t passed) const;

  const std::int64_t patience_;
  std::int64_t last_look_ = 0;
};

// A signal has stopped one of its threads, and with it all.
bool is_stopped_by_signal(const Inferior& inferior);

}  // namespace fade
