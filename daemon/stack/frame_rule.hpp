// How to find the frame of a caller from the frame of the called function, at one instruction. This is call frame
// information (DWARF 5, 6.4), reduced to the forms that compilers write for x86-64. Fixed size, independent of load
// addresses.
#pragma once
#include <array>
#include <cstdint>

#include "base/remote.hpp"
#include "stack/frame_registers.hpp"

struct Dwarf_Frame_s;

namespace fade {

struct FrameRule {
  enum class Kind : std::uint8_t {
    Missing,      // there is no call frame information
    Bottom,       // the outermost frame: it has no return address
    Offsets,      // all fields below
    Expressions,  // more than offsets: evaluate the information itself (cfi_evaluator.hpp)
  };
  Kind kind = Kind::Missing;
  bool is_signal = false;  // of a frame made by the kernel: the caller was interrupted and did not call
  std::uint8_t cfa_register = FrameRegisters::kRsp;
  std::uint8_t saved = 0;  // bit i: FrameRegisters::kSaved[i] is on the stack
  std::int32_t cfa_offset = 0;
  std::int16_t return_at = 0;                                          // from the CFA
  std::array<std::int16_t, FrameRegisters::kSaved.size()> saved_at{};  // from the CFA

  static FrameRule from(Dwarf_Frame_s& frame);
};
static_assert(sizeof(FrameRule) <= 24);

// Goes from a frame to its caller's by a rule of Kind::Offsets. `word` reads 8 bytes:
// std::optional<std::uint64_t>(RemoteAddr). Returns false, with `frame` undefined, if a needed register or memory is
// unknown.
template <class Word>
bool step(const FrameRule& rule, FrameRegisters& frame, Word&& word) {
  if (!frame.has(rule.cfa_register)) return false;
  const std::uint64_t cfa = frame[rule.cfa_register] + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  const auto at = [cfa](std::int16_t offset) {
    return RemoteAddr{cfa + static_cast<std::uint64_t>(std::int64_t{offset})};
  };
  const auto pc = word(at(rule.return_at));
  if (!pc) return false;
  for (std::size_t i = 0; i < rule.saved_at.size(); ++i) {
    if (!(rule.saved >> i & 1)) continue;
    const auto value = word(at(rule.saved_at[i]));
    if (!value) return false;
    frame.set(FrameRegisters::kSaved[i], *value);
  }
  frame.return_to(*pc, cfa);
  return true;
}

}  // namespace fade
