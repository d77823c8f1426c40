// A list of calls that a stopped thread of the program makes by itself, once it runs again: code and plan lie in memory
// that is mapped for this errand, and the thread goes back on a ReturnFrame. So it comes back in the same state if the
// tracer dies at any time. It ends at a breakpoint that the caller chooses, where the tracer meets it again.
//
// Signals that the program could handle are blocked meanwhile, except those of faults. Tracing thread only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "ptrace/process_memory.hpp"
#include "ptrace/registers.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

// A call with up to six words. A result other than 0 ends the errand, unless the call is to be made again. The offsets
// are those of errand_code.S.
struct ErrandStep {
  RemoteAddr function;
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t behind_pointers = 0;  // bits of the arguments that are addresses of their words
  RemoteAddr must_be_zero;            // a 32-bit number that the call has written; null: none
  std::uint64_t result = 0;
  std::uint64_t again_on = 0;  // a result for which the call is made again while the plan has patience
};
static_assert(sizeof(ErrandStep) == 88);

struct ErrandPlan {
  static constexpr std::size_t kWords = 11;
  enum State : std::uint64_t { Waits, Runs, Succeeded, Failed };
  std::uint64_t state = Waits, count = 0;
  std::uint64_t done_steps = 0;               // step of a failure
  RemoteAddr at_end;                          // a function that is called last if the first step was done; null: none
  std::uint64_t patience = 0;                 // for all calls that are made again: ticks of the TSC
  std::array<std::uint64_t, kWords> words{};  // for results of steps
};
static_assert(sizeof(ErrandPlan) == 128);

class Errand {
 public:
  static constexpr std::size_t kMostSteps = 180;

  // Maps memory in the program, with room for `bytes` of data. The stopped thread makes the system calls for that.
  // Returns an Error if the program can map no memory.
  static Result<Errand> prepare(const RemoteCall& call, std::uint64_t bytes);

  RemoteAddr data() const { return base_ + kCode + kPlan; }
  RemoteAddr word(std::size_t index) const {
    return base_ + kCode + offsetof(ErrandPlan, words) + index * sizeof(std::uint64_t);
  }
  // The thread has no stop that is not reaped. When it is resumed it makes the calls and then continues with `state`.
  // False: it is unchanged.
  bool send(const ProcessMemory& memory, Tid stopped, const Registers& state, std::span<const ErrandStep> steps,
            RemoteAddr at_end, std::uint64_t patience = 0) const;
  // The state of the errand now. nullopt: the program's memory cannot be read.
  struct Outcome {
    ErrandPlan plan;
    std::uint32_t result = 0;  // of the step that failed
  };
  std::optional<Outcome> outcome(const Memory& memory) const;
  // The thread is back: no thread of the program runs in the memory any longer.
  void unmap(const RemoteCall& call) const;

 private:
  static constexpr std::uint64_t kCode = kPageSize;
  static constexpr std::uint64_t kPlan = 4 * kPageSize;
  static_assert(sizeof(ErrandPlan) + kMostSteps * sizeof(ErrandStep) <= kPlan);
  Errand(RemoteAddr base, std::uint64_t size) : base_(base), size_(size) {}

  RemoteAddr base_;
  std::uint64_t size_;
};

}  // namespace fade
