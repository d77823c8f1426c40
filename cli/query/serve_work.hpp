// Work of GPUs in a part of the recording's time, in lanes: one for each queue of a device, one for its copies. Works
// have no index on time. Their ids are about in the order in which they ended, so halving finds a moment.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cli/query/html_data.hpp"
#include "cli/query/serve_rows.hpp"

namespace fade::query::live {

class GpuWork {
 public:
  // {works, single, left_out, names, lanes}; null without works. More than some ten thousand are only estimated.
  Result<html::Json> range(const html::Source& source, Window window);

 private:
  struct Work {
    std::int64_t id, start, end, name, call, lane;
  };
  using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // process, device, queue; -1: none

  Result<std::vector<Work>> works_in(Recording& recording, Window window, Ids ids);
  Result<void> read_names(const html::Source& source);
  std::int64_t lane_of(Place place);
  std::string lane_name(Place place) const;
  std::string name_of(std::int64_t name) const;
  html::Json lanes_json(const Lanes& lanes, const std::map<std::int64_t, std::int64_t>& calls) const;

  std::map<std::int64_t, std::string> kernels_;
  std::map<std::int64_t, std::int64_t> ordinals_, pids_;  // of devices, of processes
  std::map<Place, std::int64_t> lanes_;
  std::vector<Place> places_;  // of the lanes
};

}  // namespace fade::query::live
