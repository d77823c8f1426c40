// Stacks that were worked out before, with their evidence: if the evidence is unchanged, the stack is known without a
// walk. For each place (return address, stack pointer, thread) the last few stacks are kept. Tracing thread only;
// bounded.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/event.hpp"
#include "stack/stack_evidence.hpp"
#include "stack/stack_snapshot.hpp"

namespace fade {

class RememberedStacks {
 public:
  struct Place {
    std::uint64_t program = 0, generation = 0;  // as in ProgramStacks and CodeMap
    std::uint64_t fs_base = 0, pc = 0, sp = 0;  // pc and sp: of the frame that the walk begins with
    bool is_caller = false, with_python = false;
    bool operator==(const Place&) const = default;
  };
  struct Stack {
    StackId id = 0;
    bool is_cut_short = false;  // its outermost frames are missing
  };

  // nullptr: no known stack is the present one. Valid until the next put().
  const Stack* find(const Place& place, const FrameRegisters& frame, const StackSnapshot& snapshot,
                    std::uint64_t ms) const;
  // `evidence` must be whole.
  void put(const Place& place, const StackEvidence& evidence, Stack stack);

 private:
  static constexpr std::size_t kSets = 256, kWays = 4;
  struct Entry {
    Place place;
    Stack stack;  // id 0: free
    StackEvidence evidence;
  };
  struct Set {
    std::array<Entry, kWays> entries;
    std::size_t next = 0;  // to be replaced
  };
  static std::size_t set_of(const Place& place);

  std::vector<Set> sets_ = std::vector<Set>(kSets);
};

}  // namespace fade
