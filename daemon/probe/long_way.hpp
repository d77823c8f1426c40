// The slot of a breakpoint at a function that gets an entry jump while the program runs (EntryConversion). A usual slot
// leads back into the text behind the first instruction. A long way leads to the slot of the jump instead, which has
// the instructions that the jump will cover:
//    0  the first instruction; a short jump to 16
//   16  the jump to the slot of the entry jump
// Behind a first instruction of seven bytes a usual slot has its jump, whose distance is a word of its own at 8. There
// the long way changes that distance, so that it leads to 16.
// Either part changes in one write of a word, so threads may be in the slot meanwhile. Pure; knows no process.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/remote.hpp"
#include "probe/entry_jump.hpp"
#include "probe/relocate.hpp"

namespace fade {

struct LongWay {
  using Word = std::array<std::uint8_t, 8>;
  static constexpr std::uint64_t kFarJumpAt = 16;

  EntryLead lead;
  RemoteAddr to;  // the slot of the entry jump

  struct Part {
    std::uint64_t at = 0;  // in the slot
    Word word{};
  };
  // The word that leads to kFarJumpAt, and the word there. `first`: the first instruction.
  static Part begin(std::span<const std::uint8_t> first);
  Word far_jump(RemoteAddr slot) const;
  // nullopt: the slot has another content.
  static std::optional<LongWay> in(std::span<const std::uint8_t, kSlotSize> code, RemoteAddr slot);
  // True if a thread at `offset` has executed the first instruction, and no other.
  bool is_behind_lead(std::size_t offset) const { return offset == lead.length || offset == kFarJumpAt; }
};

}  // namespace fade
