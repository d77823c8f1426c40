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

// A first instruction after which no short jump ends in the same word.
constexpr std::size_t kLongAt = sizeof(LongWay::Word);
constexpr std::int32_t kDistanceOfLong = LongWay::kFarJumpAt - (kTableLoadSize + kJumpSize);
static_assert(kLongAt == kTableLoadSize + 1);
constexpr bool is_long(std::size_t lead) { return lead == kTableLoadSize; }

std::int32_t distance_at(std::span<const std::uint8_t> code, std::size_t at) {
  std::int32_t out;
  std::memcpy(&out, code.data() + at, sizeof out);
  return out;
}

bool leads_on(std::span<const std::uint8_t> code, std::size_t lead) {
  if (is_long(lead)) return code[lead] == kJumpOpcode && distance_at(code, kLongAt) == kDistanceOfLong;
  return code[lead] == kShortJump && code[lead + 1] == short_distance(lead);
}

}  // namespace

LongWay::Part LongWay::begin(std::span<const std::uint8_t> first) {
  Word out;
  out.fill(kNop);
  if (is_long(first.size())) {
    std::memcpy(out.data(), &kDistanceOfLong, sizeof kDistanceOfLong);
    return {kLongAt, out};
  }
  std::ranges::copy(first, out.begin());
  out[first.size()] = kShortJump;
  out[first.size() + 1] = short_distance(first.size());
  return {0, out};
}

LongWay::Word LongWay::far_jump(RemoteAddr slot) const {
  Word out;
  out.fill(kNop);
  std::ranges::copy(jump_code(slot + kFarJumpAt, to), out.begin());
  return out;
}

std::optional<LongWay> LongWay::in(std::span<const std::uint8_t, kSlotSize> code, RemoteAddr slot) {
  const auto lead = entry_lead(code.first(LongWay::kFarJumpAt));
  if (!lead || !leads_on(code, lead->length) || code[kFarJumpAt] != kJumpOpcode) return std::nullopt;
  const std::int32_t distance = distance_at(code, kFarJumpAt + 1);
  return LongWay{*lead, slot + kFarJumpAt + kJumpSize + static_cast<std::uint64_t>(std::int64_t{distance})};
}

}  // namespace fade
