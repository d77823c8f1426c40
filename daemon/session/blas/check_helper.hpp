// The process that computes products again (fade-check-blas), beside fade and outside of the program. It is no child
// that the tracer waits for, and it ends when fade ends. Sending and receiving never block. Tracing thread only.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "blas/request.hpp"

namespace fade {

class CheckHelper {
 public:
  // `dumps`: results that it writes as files at most.
  Result<void> start(const std::string& program, std::uint64_t dumps);
  bool is_running() const { return static_cast<bool>(socket_); }
  // False: it is not running, or has so many requests that there is no room.
  bool send(const blas::Request& request, const Fd& matrices);
  // Those that have come; waits so long for the first one.
  std::vector<blas::Answer> answers(std::chrono::milliseconds patience = {});

 private:
  Fd socket_;
};

}  // namespace fade
