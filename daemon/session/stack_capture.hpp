// Takes the stacks of stopped threads: native and Python frames, merged. Each stack is sent once (FrameSeen, StackSeen)
// and then known by its number. Stops no thread: the caller has stopped it already. Tracing thread only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "session/inferior.hpp"
#include "session/program_stacks.hpp"
#include "session/remembered_stacks.hpp"
#include "session/stack_policy.hpp"
#include "session/stack_table.hpp"
#include "stack/merged_stack.hpp"
#include "stack/native_walk.hpp"

namespace fade {

class StackCapture {  // one stack passes all fields in turn: policy, look, walk, table; its buffers stay for the next
 public:
  StackCapture(EventSink& sink, const SessionClock& clock, StackChoice choice)
      : sink_(sink), clock_(clock), policy_(choice), table_(sink) {}

  StackPolicy& policy() { return policy_; }
  // The words on the stack of a thread that is just entering a function, read once for all readers: the return address,
  // arguments, and a stack for at_entry(). Valid until the next stack is taken.
  const Memory& look(const Thread& thread, const Registers& registers);
  // 0 if there is no frame to show or no room for it. The innermost frame is the caller of the function that `thread`
  // is just entering, its return address read already,
  StackId at_entry(Thread& thread, const Registers& registers, RemoteAddr return_address);
  // or has just returned from.
  StackId at_return(Thread& thread, const Registers& registers, RemoteAddr return_address);
  // The innermost frame is the thread's present place.
  StackId now(Thread& thread, const Registers& registers);

  // For a thread that runs meanwhile: its Python frames, read twice, with the same functions both times, and the
  // innermost one of the user's own code. Zeros if there are none, or if they changed each time.
  struct Outside {
    StackId stack = 0;
    FrameId frame = 0;
  };
  Outside from_outside(const Thread& thread);

  // Each stack is worked out anew from here on.
  void forget() { remembered_ = {}; }
  std::uint64_t recognised() const { return cost_.recognised; }  // stacks that were not worked out again

  ProgramStacks& of(Program& program);
  // Now and then, and at the end: the cost of stacks since the beginning, as Lifecycle notices.
  void report(bool at_end);

 private:
  struct Cost {
    std::uint64_t taken = 0, recognised = 0, evaluated = 0, cut_short = 0, not_kept = 0;
    std::int64_t ns = 0, longest_ns = 0;
    std::uint64_t sampled = 0, unsteady = 0;
    std::int64_t sampled_ns = 0;
  };
  StackId take(Thread& thread, const FrameRegisters& frame, std::uint64_t fs_base, bool is_caller);
  StackId take_now(Thread& thread, const FrameRegisters& frame, std::uint64_t fs_base, bool is_caller);
  StackId work_out(Thread& thread, ProgramStacks& stacks, PythonStacks* python, const FrameRegisters& frame,
                   std::uint64_t fs_base, bool is_caller);
  void read_stack(const Thread& thread, PythonStacks* python, RemoteAddr sp, std::uint64_t fs_base);
  PythonStacks* python_of(const Thread& thread, ProgramStacks& stacks);
  void walk(Thread& thread, ProgramStacks& stacks, const FrameRegisters& frame, bool is_caller);
  std::uint64_t hash(const ProgramStacks& stacks, PythonStacks* python);
  StackId build(const Thread& thread, ProgramStacks& stacks, PythonStacks* python);
  FrameId frame_of(const Thread& thread, ProgramStacks& stacks, PythonStacks* python, const MergedFrame& frame);
  FrameId native_frame(const Thread& thread, ProgramStacks& stacks, const NativeFrame& frame);
  FrameId python_frame(const Thread& thread, ProgramStacks& stacks, PythonStacks& python, const PythonFrame& frame,
                       std::uint64_t kind);
  std::vector<PythonFrame> running_frames(const Thread& thread, PythonStacks& python);
  FrameId gap(const Thread& thread, ProgramStacks& stacks, const std::string& reason);

  EventSink& sink_;
  const SessionClock& clock_;
  StackPolicy policy_;
  StackTable table_;
  RememberedStacks remembered_;
  CodeFiles files_;
  LibunwindStep libunwind_;
  std::uint32_t last_program_ = 0;
  Cost cost_;
  std::uint64_t reported_taken_ = 0, reported_not_kept_ = 0;

  // Buffers of the stack that is being taken; kept to reuse their memory.
  StackSnapshot snapshot_;
  bool has_looked_ = false;  // the snapshot is that of the stack that will be asked for next
  std::int64_t look_ns_ = 0;
  StackEvidence evidence_;
  std::vector<NativeFrame> native_;
  std::vector<PythonFrame> python_;
  std::vector<MergedFrame> merged_;
  std::string why_ended_;
};

}  // namespace fade
