// The tracks of a timeline: announced to its writer when they are first needed, and found again by process, thread and
// name. Slices that overlap get tracks side by side.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/timeline/timeline.hpp"

namespace fade::query {

class TimelineTracks {
 public:
  explicit TimelineTracks(timeline::Writer& writer) : writer_(writer) {}

  struct Process {
    std::int64_t session = 0, pid = 0;
    std::string name, command;
  };
  Result<std::uint64_t> process(const Process& about);
  Result<std::uint64_t> thread(std::int64_t session, std::int64_t pid, std::int64_t tid, const std::string& name);

  struct Lane {
    std::uint64_t parent = 0;
    std::string name;
    bool folds = false;
    std::int64_t device = -1, stream = -1;  // of work of a GPU
  };
  // For an instant.
  Result<std::uint64_t> lane(const Lane& lane);
  // For a slice that lasts until `end` (nullopt: to the end). Slices of a lane come in order of time.
  Result<std::uint64_t> lane_for(const Lane& lane, std::int64_t start, std::optional<std::int64_t> end);
  Result<std::uint64_t> counter(std::uint64_t parent, const std::string& name, bool is_bytes);

 private:
  struct Row {
    std::uint64_t track = 0;
    std::int64_t busy_until = 0;
  };
  Result<std::uint64_t> announce(timeline::Track track);
  Result<Row*> row_of(const Lane& lane, std::int64_t start);

  timeline::Writer& writer_;
  std::uint64_t last_ = 0;
  std::map<std::tuple<std::int64_t, std::int64_t>, std::uint64_t> processes_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::uint64_t> threads_;
  std::map<std::tuple<std::uint64_t, std::string>, std::vector<Row>> lanes_;
  std::map<std::tuple<std::uint64_t, std::string>, std::uint64_t> counters_;
};

}  // namespace fade::query
