// The capture engines of a session, in the order of preference. Each function is captured by one of them, chosen by the
// needs of its calls. Tracing thread only.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "session/capture.hpp"
#include "session/function_table.hpp"

namespace fade {

class Engines {
 public:
  explicit Engines(FunctionTable& functions) : functions_(functions) {}

  // A further engine, asked after those before it. The last one must be able to capture every function.
  void add(Capture& engine) { all_.push_back(&engine); }
  // The first engine that can see the calls of the function; the last engine if none says so.
  Capture& of(const Entry& entry) const;

  bool want_jumps() const;
  // As Capture::watch(): each function by its own engine. One result for each function, in the same order.
  std::vector<Result<bool>> watch(Inferior& inferior, std::span<const WatchedFunction> functions, Tid stopped) const;
  // As Capture::on_trap(). nullopt: the trap is of none of the engines.
  std::optional<std::uint32_t> on_trap(Thread& thread, const Registers& registers, std::int64_t now) const;
  // These verbs go to each engine.
  void drain() const;
  void loaded(Inferior& inferior, Tid stopped) const;
  bool may_unload(Inferior& inferior) const;
  void forget(Inferior& inferior, RemoteRange range, Tid stopped) const;
  void leave(Inferior& inferior, Tid stopped) const;
  void copied(Inferior& inferior, Tid stopped) const;
  void thread_exits(Thread& thread) const;
  void set_recording(bool on) const;
  // Nothing is watched from now on. The caller has the engines leave each process.
  void stop() { is_on_ = false; }
  bool is_on() const { return is_on_; }
  // The thread's calls are closed and sent.
  void thread_ended(Thread& thread, bool process_ended) const;

 private:
  FunctionTable& functions_;
  std::vector<Capture*> all_;
  bool is_on_ = true;
};

}  // namespace fade
