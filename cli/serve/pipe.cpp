#include "cli/serve/pipe.hpp"

#include <chrono>
#include <utility>

namespace fade::serve {

bool Pipe::put(std::string part, const Cancelled& cancelled) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (bytes_ > kMostBytes && !closed_ && !cancelled) changed_.wait_for(lock, 100ms);
  if (closed_ || cancelled) return false;
  bytes_ += part.size();
  parts_.push_back(std::move(part));
  tell(std::move(lock));
  return true;
}

void Pipe::finish(bool whole) {
  std::unique_lock lock(mutex_);
  ended_ = true;
  whole_ = whole;
  tell(std::move(lock));
}

// Without the lock: `ready` may take a part at once.
void Pipe::tell(std::unique_lock<std::mutex> lock) {
  const auto ready = std::exchange(ready_, nullptr);
  lock.unlock();
  if (ready) ready();
}

Pipe::Taken Pipe::take(std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  if (!parts_.empty()) {
    Taken out{std::move(parts_.front()), false, false};
    parts_.pop_front();
    bytes_ -= out.part->size();
    changed_.notify_one();
    return out;
  }
  if (!ended_) ready_ = std::move(ready);
  return {std::nullopt, ended_, whole_};
}

void Pipe::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  ready_ = nullptr;
  changed_.notify_one();
}

}  // namespace fade::serve
