// Takes stops so that all threads get the same share. If several threads have stopped, wait(2) always reports the same
// one first: the first child, then the thread that was traced last. A thread that calls again and again is stopped
// again before the tracer asks. The other threads would then wait as long as it calls. Therefore threads are asked by
// name, in the order of TurnOrder.
#pragma once
#include "base/pid.hpp"
#include "ptrace/tracer.hpp"
#include "ptrace/turn_order.hpp"

namespace fade {

class Turns {
 public:
  static constexpr int kStops = TurnOrder::kStops;  // of a turn

  explicit Turns(const Tracer& tracer) : tracer_(tracer) {}

  // Adds a thread that may stop. Stops of other threads are seen if no added thread has stopped, and from time to time.
  void came(Tid tid) { order_.came(tid); }
  void went(Tid tid) { order_.went(tid); }

  // As Tracer::next().
  Stop next();

  std::size_t remembered() const { return order_.remembered(); }  // threads that stopped lately

 private:
  Stop next_by_name();

  const Tracer& tracer_;
  TurnOrder order_;
  int by_name_ = 0;  // stops since any thread could have been reported
};

}  // namespace fade
