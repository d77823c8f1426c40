// The timeline of a recording as trace viewers know it: tracks, and on them slices, instants and counts. A Writer turns
// these into the file of one viewer. Knows no database.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace fade::timeline {

// A JSON value as text; it was checked.
struct Json {
  std::string_view text;
};
using Value = std::variant<std::int64_t, double, bool, std::string_view, Json>;

struct Argument {
  std::string_view name;
  Value value;
  bool often = false;  // a text that many events have
};

enum class Place {
  Process,
  Thread,   // of a process
  Lane,     // events of a process or a thread beside its calls, or of the whole recording (no parent)
  Device,   // work of a GPU; the parent is the process that asked for it
  Counter,  // counts of a process
};

struct Track {
  std::uint64_t id = 0, parent = 0;  // 0: none
  Place place = Place::Lane;
  std::int64_t pid = 0, tid = 0;  // of the operating system
  std::string name;
  std::string command;                    // of a process
  bool is_bytes = false;                  // of a counter
  std::int64_t device = -1, stream = -1;  // of a device
  bool folds = false;                     // the slices of the lane nest with the calls of its thread
};

// Times are nanoseconds since the timeline's zero.
struct Event {
  std::uint64_t track = 0;
  std::int64_t start = 0;
  std::optional<std::int64_t> end;  // of a slice; nullopt: it had not ended
  std::string_view name, category;
  std::span<const Argument> arguments;
  std::span<const Argument> call_arguments;  // of the program's call
  std::uint64_t flow_out = 0, flow_in = 0;   // 0: none; an arrow leads from the event with flow_out
};

struct Device {
  std::int64_t id = 0;
  std::string name, arch;
  std::int64_t memory = 0, multiprocessors = 0;
};

struct Head {
  std::string name;                         // of the trace
  std::int64_t epoch_ns = 0, boot_ns = 0;   // CLOCK_REALTIME and CLOCK_BOOTTIME of the zero
  std::int64_t end = 0;                     // the last moment; events under way end there in formats that want an end
  std::optional<std::int64_t> rank, world;  // of a distributed job
  std::vector<Device> devices;
  std::vector<std::pair<std::string, std::string>> notes;  // about the whole
};

class Writer {
 public:
  virtual ~Writer() = default;
  virtual Result<void> begin(const Head& head) = 0;
  // Before the first event on it.
  virtual Result<void> track(const Track& track) = 0;
  // The slices of one track begin in order of time and nest.
  virtual Result<void> slice(const Event& event) = 0;
  virtual Result<void> instant(const Event& event) = 0;
  virtual Result<void> count(std::uint64_t track, std::int64_t at, std::int64_t value) = 0;
  virtual Result<void> end() = 0;
};

}  // namespace fade::timeline
