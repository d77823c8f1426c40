// Ticks beside those of the Tracer, as close together as its owner wants them for a while. They interrupt
// Tracer::next() in the same way. Tracing thread only, while a Tracer lives: its handler takes the signal.
#pragma once
#include <chrono>

namespace fade {

class QuickTick {
 public:
  QuickTick() = default;
  QuickTick(const QuickTick&) = delete;
  QuickTick& operator=(const QuickTick&) = delete;
  ~QuickTick();

  // A tick each `period` from now on; zero: none. If the kernel refuses, there is none.
  void every(std::chrono::milliseconds period);

 private:
  bool make();

  void* timer_ = nullptr;  // timer_t
  bool has_timer_ = false;
  std::chrono::milliseconds period_{};
};

}  // namespace fade
