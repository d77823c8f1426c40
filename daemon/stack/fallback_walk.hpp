// Steps of one walk out of code without call frame information. libunwind proposes the caller. A proposal is taken if
// its return address is behind a call, and if no other return address is nearer. Bounded in steps and words, because
// the program decides how deep its stacks are, and a step costs more than one by a rule.
#pragma once
#include <array>
#include <optional>

#include "base/pid.hpp"
#include "stack/code_map.hpp"
#include "stack/libunwind_step.hpp"
#include "stack/stack_evidence.hpp"
#include "stack/stack_snapshot.hpp"

namespace fade {

class FallbackWalk {
 public:
  static constexpr int kMostSteps = 32;   // of one walk
  static constexpr int kMostWords = 512;  // of the stack, looked at in one walk

  // All arguments must outlive the walk.
  FallbackWalk(LibunwindStep& libunwind, CodeMap& code, Tid thread, const StackSnapshot& stack)
      : libunwind_(libunwind), code_(code), thread_(thread), stack_(stack) {}

  // The frame of the caller of `frame`, its pc a return address. nullopt: there is none that is certain enough, or the
  // bounds are reached. `evidence` gets the words of the stack from the stack pointer to the return address.
  std::optional<FrameRegisters> out_of(const FrameRegisters& frame, StackEvidence* evidence);
  bool is_exhausted() const { return steps_ > kMostSteps || words_ > kMostWords; }

 private:
  // Code around an address.
  struct Block {
    static constexpr std::size_t kBefore = 8, kBehind = 16;
    RemoteAddr at;
    std::array<std::byte, kBefore + kBehind> bytes{};
  };
  bool read_code(RemoteAddr at);
  bool is_return_address(RemoteAddr pc);
  bool is_first_return(RemoteAddr at, RemoteAddr sp, StackEvidence* evidence);

  LibunwindStep& libunwind_;
  CodeMap& code_;
  Tid thread_;
  const StackSnapshot& stack_;
  Block block_;  // the last one; a caller's is that of the next step
  int steps_ = 0, words_ = 0;
};

}  // namespace fade
