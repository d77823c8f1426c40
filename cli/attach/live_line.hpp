// The line that a terminal shows while fade-attach records. Pure text: knows neither terminal nor process.
#pragma once
#include <cstddef>
#include <string>

#include "cli/table/human.hpp"
#include "supervisor/attach.hpp"

namespace fade::cli::attach {

class LiveLine {
 public:
  // `hint`: how to end it, "[Enter] detach".
  LiveLine(bool utf8, std::string hint) : utf8_(utf8), hint_(std::move(hint)) {}

  // "● 00:12:31  41k calls/s  mem 11.2G (peak 14.0G)  err 0  db 214M  [Enter] detach": as many whole fields as there
  // are columns for. Calls per second are those since the line before.
  std::string next(const LiveNumbers& now, std::size_t columns);

 private:
  double calls_per_second(const LiveNumbers& now);

  const bool utf8_;
  const std::string hint_;
  LiveNumbers last_;
};

using table::short_count;

}  // namespace fade::cli::attach
