// Takes stops so that all threads get alike many of theirs handled. Of several stopped threads wait(2) reports the
// same one first: the first child, then the thread that was traced last. A thread that calls again and again is
// stopped again before the tracer asks, and the other threads would wait for as long as it does. So threads are
// asked by name, in the order of TurnOrder.
#pragma once
#include "ptrace/tracer.hpp"
#include "ptrace/turn_order.hpp"

namespace fade {

class Turns {
 public:
  static constexpr int kStops = TurnOrder::kStops;  // of a turn

  explicit Turns(const Tracer& tracer) : tracer_(tracer) {}

  // Threads that may stop. Stops of other threads are seen when no thread that came has stopped, and now and then.
  void came(pid_t tid) { order_.came(tid); }
  void went(pid_t tid) { order_.went(tid); }

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
