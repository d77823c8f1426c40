// Stores the tracing side's events beside calls: processes, threads, modules, functions, moments of trouble, costs.
#pragma once
#include <cstdint>

#include "base/least_duration.hpp"
#include "store/books.hpp"
#include "store/device_recorder.hpp"
#include "store/lane_cache.hpp"
#include "store/sensor_book.hpp"

namespace fade::store {

class NoticeRecorder {  // a handler for each kind of notice; most fields are the statement of one table
 public:
  NoticeRecorder(sqlite::Db& db, Failure& failure, SessionRow session, Books& books, LaneCache& lanes,
                 DeviceRecorder& devices);

  // `last_call`: row of the last call before it, 0: none.
  void record(const Notice& notice, CallRow last_call);
  // A row of `lifecycle` that the storing side itself writes.
  void detail(const DetailWindow::Change& change);
  void note(std::int64_t at, std::int64_t value, std::string_view detail);
  // Calls that were left out, for a reason that the storing side itself found.
  void drop(std::int64_t at, std::uint64_t calls, std::string_view reason) { drop_(session_, at, 0, calls, reason); }

  std::int64_t last_ns() const { return last_ns_; }  // when the last thread or process ended
  // calls that the tracing side did not hand over, by its own count
  std::uint64_t never_came() const { return never_came_; }
  std::uint64_t only_counted() const { return only_counted_; }  // calls of which nothing else is known
  const CostOfCalls& call_cost() const { return call_cost_; }
  std::vector<GpuNow> gpus() const { return sensors_.now(); }

 private:
  void on(const ProcessStarted& n);
  void on(const ProcessExec& n);
  void on(const ProcessEnded& n);
  void on(const ThreadStarted& n);
  void on(const ThreadEnded& n);
  void on(const DeviceSet& n);
  void on(const ModuleLoaded& n);
  void on(const ModuleUnloaded& n) { books_.directory.on(n); }
  void on(const FunctionDefined& n);
  void on(const CallSiteSeen& n) { books_.directory.on(n); }
  void on(const KernelNamed& n);
  void on(const OverrideRule& n) { books_.overrides.on(n); }
  void on(const OverrideHit& n) { books_.overrides.on(n); }
  void on(const InjectionRule& n) { books_.injections.on(n); }
  void on(const InjectionHit& n) { books_.injections.on(n); }
  void on(const NumbersSeen& n) { books_.numbers.on(n, books_.keep.sums); }
  void on(const NumbersLeft& n) { books_.numbers.on(n); }
  void on(const ProductChecked& n) { books_.checks.on(n); }
  void on(const ProductsLeft& n) { books_.checks.on(n); }
  void on(const ActionRule& n) { books_.actions.on(n); }
  void on(const ActionDone& n) { books_.actions.on(n); }
  void on(const CachedSearch& n) { books_.cached.on(n); }
  void on(const CachedCopy& n) { books_.cached.on(n); }
  void on(const CachedField& n) { books_.cached.on(n); }
  void on(const CachedChange& n) { books_.cached.on(n); }
  void on(const ModuleOrigin& n) { books_.bindings.on(n); }
  void on(const ImportsBound& n) { books_.bindings.on(n); }
  void on(const FrameSeen& n);
  void on(const StackSeen& n) { books_.stacks.on(n); }
  void on(const Postmortem& n) { books_.postmortems.on(n); }
  void on(const ThreadSeen& n) { books_.postmortems.on(n); }
  void on(const Sampled& n);
  void on(const Lifecycle& n);
  void on(const Drop& n);
  void on(const CpuUsed& n);
  void on(const GpuSample& n) { sensors_.on(n); }
  void on(const ThreadCost& n);
  void on(const CostMeasured& n);
  void on(const CallsCounted& n);
  void on(const StopCost& n) {
    books_.rollups.stops(session_, books_.directory.function_row(n.function), n.stops, n.held_ns);
  }
  void end_kernels(ProcessId process);

  const SessionRow session_;
  Books& books_;
  LaneCache& lanes_;
  DeviceRecorder& devices_;
  Write lifecycle_, drop_, cpu_, sample_, cost_, set_least_, thread_cost_;
  SensorBook sensors_;
  CostOfCalls call_cost_;
  LeastDuration least_;
  CallRow last_call_ = 0;  // before the notice at hand
  std::int64_t last_ns_ = 0;
  std::uint64_t never_came_ = 0, only_counted_ = 0;
};

}  // namespace fade::store
