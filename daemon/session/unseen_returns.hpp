// How many calls' returns could not be watched, by the reason. Tracing thread only.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "base/event.hpp"

namespace fade {

class UnseenReturns {
 public:
  void add(const std::string& reason);
  std::uint64_t total() const { return total_; }
  // Sends a Drop for each reason with twice the number that was sent last, or with any growth if `at_end`.
  void report(EventSink& sink, std::int64_t now, bool at_end);

 private:
  struct Count {
    std::uint64_t seen = 0, reported = 0;
  };
  std::map<std::string, Count> by_reason_;
  std::uint64_t total_ = 0;
};

}  // namespace fade
