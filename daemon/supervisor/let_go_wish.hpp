// Two requests to end, for fade-run alone, are a wish that fade lets the program go. Async-signal-safe.
#pragma once
#include <signal.h>

#include <atomic>
#include <cstdint>

namespace fade {

class LetGoWish {
 public:
  // `signal` came for fade-run alone. `now`: CLOCK_MONOTONIC.
  void request(int signal, std::int64_t now) {
    if (signal != SIGINT && signal != SIGTERM) return;
    const std::int64_t since = now - last_.exchange(now);
    if (since > kSoonest && since < kLatest) is_asked_ = true;
  }
  void ask() { is_asked_ = true; }
  bool is_asked() const { return is_asked_; }
  void forget() {
    last_ = 0;
    is_asked_ = false;
  }

 private:
  // ns. Sooner it is one request that was sent twice.
  static constexpr std::int64_t kSoonest = 200'000'000, kLatest = 3'000'000'000;
  std::atomic<std::int64_t> last_{0};
  std::atomic<bool> is_asked_{false};
};

}  // namespace fade
