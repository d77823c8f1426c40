// What the daemon knows of one session: enough to show it, and to find its worker again after the daemon died.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "ipc/json.hpp"

namespace fade::service {

// Lost: the worker died. Unknown: it ended while no daemon ran, and perhaps well.
enum class State : std::uint8_t { Attaching, Recording, Paused, Stopping, Ended, Failed, Lost, Unknown };
const char* state_word(State state);
std::optional<State> state_from(const std::string& word);

struct GpuUse {  // of a GPU of the machine, by its sensors
  std::int64_t node = 0;
  std::optional<std::int64_t> busy_percent, memory_bytes;
};

struct SessionRecord {  // one saved object: to_json() and record_from() handle every field but gpus
  std::uint64_t id = 0;
  uid_t uid = 0;  // whose it is
  gid_t gid = 0;
  std::string via;  // attach, run or watch
  State state = State::Attaching;
  Pid pid = 0;
  std::uint64_t start_ticks = 0;
  std::string program;
  std::string folder, database;             // path of the folder, name of the file in it
  std::int64_t since_ns = 0, until_ns = 0;  // CLOCK_REALTIME; 0: goes on
  Pid worker = 0;
  std::uint64_t worker_start_ticks = 0;

  std::int64_t elapsed_ns = 0;  // as the worker counts
  std::uint64_t calls = 0, errors = 0, dropped = 0, calls_per_second = 0;
  std::uint64_t memory_bytes = 0, peak_bytes = 0, database_bytes = 0;
  std::uint64_t launches = 0;
  std::int64_t gpu_busy_ns = 0;  // by the times of the GPU (--gpu-times)
  std::uint64_t threads = 0;
  std::int64_t held_median_ns = 0, held_worst_ns = 0;
  std::vector<GpuUse> gpus;  // in the last second; neither shown nor saved
  std::vector<std::string> notes;
  std::string ending;  // how it ended, a sentence

  bool live() const { return state < State::Ended; }
  std::string database_path() const { return folder + "/" + database; }
};

// The same object is shown to clients and saved. It has no counts if the state is unknown: those of the last report are
// not the end's.
ipc::Json to_json(const SessionRecord& record);
std::optional<SessionRecord> record_from(const ipc::Json& json);

// Takes over what a worker reports (DESIGN: attached, tick, ended). Says whether it was understood.
bool take_report(SessionRecord& record, const ipc::Json& report);

}  // namespace fade::service
