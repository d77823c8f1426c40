// The native frames of a stopped thread, innermost first. The walk ends for any content of memory: the stack pointer
// must grow from frame to frame, except at a frame that the kernel made for a signal.
#pragma once
#include <optional>
#include <string>

#include "base/pid.hpp"
#include "stack/code_map.hpp"
#include "stack/fallback_walk.hpp"
#include "stack/stack_evidence.hpp"
#include "stack/stack_snapshot.hpp"

namespace fade {

struct NativeFrame {
  RemoteAddr pc;  // of the executing instruction; in a caller, inside the call instruction: the return address minus 1
  bool by_libunwind = false;  // found by libunwind: the frame that it called has no call frame information
};

class NativeWalk {
 public:
  enum class End : std::uint8_t { NotYet, Bottom, Missing, Damaged };

  // Begins with `frame`. `is_caller`: `frame` is of a caller and its pc is a return address. All arguments must outlive
  // the walk. `evidence` gets all facts that the frames depend on, except the pc and stack pointer at the beginning and
  // the mappings of code. With `libunwind` the walk goes on behind code without call frame information, where it can.
  NativeWalk(CodeMap& code, Tid thread, const FrameRegisters& frame, const StackSnapshot& stack, bool is_caller,
             StackEvidence* evidence = nullptr, LibunwindStep* libunwind = nullptr)
      : code_(code), thread_(thread), stack_(stack), evidence_(evidence), frame_(frame), is_return_(is_caller) {
    if (libunwind) fallback_.emplace(*libunwind, code, thread, stack);
  }

  // nullopt: no more frames; end() gives the reason.
  std::optional<NativeFrame> next();
  End end() const { return end_; }
  // The text for users; empty if the outermost frame was reached.
  std::string why_ended() const;
  std::uint32_t evaluated() const { return evaluated_; }  // frames that needed more than a rule
  // The place that the last frame was called from; null: unknown.
  RemoteAddr return_address() const { return end_ == End::NotYet ? frame_.pc() : RemoteAddr{}; }
  // The stack pointer of the last frame.
  RemoteAddr sp() const { return frame_.sp(); }

 private:
  void go_out(const CodeMap::Place& place);
  RemoteAddr shown(RemoteAddr pc);
  NativeFrame leave_without_rule(RemoteAddr pc, bool is_in_file);
  bool leave_what_is_no_code(RemoteAddr pc);
  bool fall_back();
  bool is_put_there(RemoteAddr pc) const;
  void rest_on(std::size_t number) const;
  void rest_on(const FrameRule& rule);
  bool evaluate(const CodeMap::Place& place);

  CodeMap& code_;
  Tid thread_;
  const StackSnapshot& stack_;
  StackEvidence* evidence_;
  // The stack address of each register's value. Null: the value of the first frame; kCertain: it follows from the
  // evidence.
  static constexpr RemoteAddr kCertain{1};
  std::array<RemoteAddr, FrameRegisters::kCount> from_{};
  FrameRegisters frame_;
  bool is_return_;
  bool by_libunwind_ = false;  // of frame_
  std::optional<FallbackWalk> fallback_;
  End end_ = End::NotYet;
  RemoteAddr last_;
  std::uint32_t evaluated_ = 0;
};

// All frames, at most `limit`, of a thread whose `registers` are current.
std::vector<RemoteAddr> native_frames(CodeMap& code, Tid thread, const Registers& registers, const StackSnapshot& stack,
                                      std::size_t limit);

}  // namespace fade
