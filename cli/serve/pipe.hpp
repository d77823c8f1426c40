// An answer that is too long for memory, on its way from a worker to a connection. The worker waits if the browser
// reads more slowly than it writes.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cli/serve/routes.hpp"

namespace fade::serve {

class Pipe {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;  // that wait

  // The worker's side. False: the browser has gone.
  bool put(std::string part, const Cancelled& cancelled);
  void finish(bool whole);

  // The connection's side.
  struct Taken {
    std::optional<std::string> part;
    bool ended = false, whole = false;  // no further part comes; none is missing
  };
  // Without a part and without an end, `ready` is called once when there is one: in the worker's thread.
  Taken take(std::function<void()> ready);
  void close();

 private:
  void tell(std::unique_lock<std::mutex> lock);

  std::mutex mutex_;  // protects all below
  std::condition_variable changed_;
  std::deque<std::string> parts_;
  std::size_t bytes_ = 0;
  bool ended_ = false, whole_ = false, closed_ = false;
  std::function<void()> ready_;
};

}  // namespace fade::serve
