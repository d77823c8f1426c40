// A thread that makes answers one after the other, so that slow ones do not hold up the network. Jobs may be given from
// one thread; `done` is called in the worker's.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.hpp"
#include "cli/serve/routes.hpp"

namespace fade::serve {

struct Job {
  const Route* route = nullptr;
  Request request;
  std::function<void(Answer)> done;
  Cancelled cancelled = false;
};

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  ~Worker() { stop(); }

  Result<void> start();
  void add(std::shared_ptr<Job> job);
  // Cancels the present job and those that wait, and ends the thread.
  void stop();

 private:
  std::shared_ptr<Job> next();  // none: the end
  void work();

  std::mutex mutex_;  // protects the three below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> current_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace fade::serve
