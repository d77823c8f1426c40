#include "probe/long_way.hpp"

#include <algorithm>
#include <cstring>

namespace fade {
namespace {

constexpr std::uint8_t kShortJump = 0xEB, kNop = 0x90;
constexpr std::size_t kShortJumpSize = 2;

constexpr std::uint8_t short_distance(std::size_t lead) {
  return static_cast<std::uint8_t>(LongWay::kFarJumpAt - lead - kShortJumpSize);
}

}  // namespace

LongWay::Word LongWay::begin(std::span<const std::uint8_t> first) {
  Word out;
  out.fill(kNop);
  std::ranges::copy(first, out.begin());
  out[first.size()] = kShortJump;
  out[first.size() + 1] = short_distance(first.size());
  return out;
}

LongWay::Word LongWay::far_jump(RemoteAddr slot) const {
  Word out;
  out.fill(kNop);
  std::ranges::copy(jump_code(slot + kFarJumpAt, to), out.begin());
  return out;
}

std::optional<LongWay> LongWay::in(std::span<const std::uint8_t, kSlotSize> code, RemoteAddr slot) {
  const auto lead = entry_lead(code.first(LongWay::kFarJumpAt));
  if (!lead || code[lead->length] != kShortJump || code[lead->length + 1u] != short_distance(lead->length) ||
      code[kFarJumpAt] != kJumpOpcode)
    return std::nullopt;
  std::int32_t distance;
  std::memcpy(&distance, code.data() + kFarJumpAt + 1, sizeof distance);
  return LongWay{*lead, slot + kFarJumpAt + kJumpSize + static_cast<std::uint64_t>(std::int64_t{distance})};
}

}  // namespace fade
