// --check blas: fetches the matrices of every Nth product by calls that the program's own thread makes at the stops of
// the call (Errand), and has them computed again in a process beside fade. A thread on its errand runs: no other thread
// waits for it, and it comes back to its breakpoint, whether fade lives or not. Its calls meanwhile are fade's own and
// are not recorded.
//
// C is fetched at the entry if the result overwrites it and beta is not 0; everything else at the return.
// Tracing thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "blas/check_rule.hpp"
#include "numbers/byte_rate.hpp"
#include "ptrace/errand.hpp"
#include "session/blas/check_helper.hpp"
#include "session/blas/gemm_call.hpp"
#include "session/blas/matrix_fetch.hpp"
#include "session/stack_capture.hpp"

namespace fade {

class BlasCheck {  // each map has the products of one stage: call, errand, computation
 public:
  // `program`: that computes products again.
  BlasCheck(EventSink& sink, const SessionClock& clock, StackCapture& stacks, const blas::CheckRule& rule,
            std::string program);

  // Starts the process that computes. Dumps are written beside the recording.
  void begin(const std::string& recording);

  // The thread is at the entry of a call that is recorded. True: it goes on an errand first, and meets the entry again.
  bool at_entry(Thread& thread, const Entry& entry, OpenCall& call);
  // The thread is behind the return; result and outputs are read.
  void at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  // All calls of a return are handled, and the thread enters no call there: it may go on an errand.
  void after_returns(Thread& thread);
  // It enters a call there: that call comes first, and the product is not checked.
  void cannot_depart();
  // A thread on an errand has met a breakpoint. True: that is all, nothing is to be recorded. False: it is at the entry
  // from which it was sent, or it has left its errand.
  bool meets(Thread& thread, RemoteAddr site, RemoteAddr sp);
  void thread_ended(const Thread& thread, bool process_ended);
  // Sends what has been computed, and the numbers of products that were not checked. At the end it waits for the rest.
  void report(bool at_end);

 private:
  struct Job {      // one product, from the entry of its call
    RemoteAddr sp;  // as of OpenCall
    std::uint32_t entry = 0;
    ProcessId process = 0;
    FunctionId function = 0;
    std::string name, library;  // of the function
    GemmCall gemm;
    std::uint64_t batch = 0;   // of the call; the product may have fewer
    std::vector<std::byte> c;  // as it was at the entry
    std::optional<blas::Matrix> c_shape;
    bool is_fetched = false;  // an errand at the entry is done
    std::string why_not;      // it is not checked
    std::int64_t held_ns = 0;
    ProductChecked seen;  // for the recording
  };
  struct Trip {  // of a thread on an errand
    Errand errand;
    MatrixFetch fetch;
    RemoteAddr site, sp;  // it comes back there
    bool is_at_entry = false;
    std::int64_t since = 0;
    Job job;
  };
  struct State {  // of one program
    std::uint32_t execs = 0;
    std::uint64_t products = 0;
    LtObjects objects;
  };

  State& state_of(const Inferior& inferior);
  bool is_chosen(const Thread& thread, const OpenCall& call);
  std::optional<Job> new_job(Thread& thread, const Entry& entry, const OpenCall& call);
  std::string why_not_now(const Thread& thread, const Job& job);
  Job* waiting_job(const Thread& thread, const Entry& entry, const OpenCall& call);
  Result<void> send_off(Thread& thread, Job& job, bool at_entry);
  void came_back(Thread& thread, Trip& trip);
  void compute(const Thread& thread, Trip& trip);
  void keep(const Thread& thread, Job job);
  void take_answers(std::chrono::milliseconds patience);
  void left_out(ProcessId process, FunctionId function, const std::string& reason);
  void left_out(const Job& job, const std::string& reason) { left_out(job.process, job.function, reason); }

  EventSink& sink_;
  const SessionClock& clock_;
  StackCapture& stacks_;
  const blas::CheckRule rule_;
  const std::string program_;
  numbers::ByteRate rate_;
  const Ticks ticks_;
  CheckHelper helper_;
  std::string recording_;
  std::unordered_map<ProcessId, State> states_;
  std::unordered_map<ThreadId, std::vector<Job>> jobs_;  // whose calls run
  std::unordered_map<ThreadId, Trip> trips_;
  std::optional<Job> returned_;                                  // of the thread that is being handled
  std::unordered_map<std::uint64_t, ProductChecked> computing_;  // by id of the request
  std::uint64_t computing_bytes_ = 0, last_request_ = 0;
  std::map<std::tuple<ProcessId, FunctionId, std::string>, std::uint64_t> left_;
};

// Tests if --check blas makes threads of the program call this function.
bool is_called_by_errands(const probes::Probe& probe);

}  // namespace fade
