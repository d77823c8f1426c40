#include "probe/tap_area.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include "probe/instruction.hpp"
#include "tap/unwind.hpp"

namespace fade {
TapArea TapArea::fork_copy() const {
  TapArea out(layout_.at);
  out.traps_ = traps_;
  out.give_up_ = give_up_;
  out.cells_ = cells_.fork_copy();
  out.unwinders_ = unwinders_;
  out.unwinders_.teller = 0;  // it is told once more: that does no harm
  out.unwinders_.unloading = 0;
  return out;
}

bool TapArea::write_questions(const ProcessMemory& memory, Tid stopped) {
  const tap::Traps traps = tap::traps_code(layout_.at, data());
  traps_ = traps.trap;
  cells_.use(traps_);
  give_up_ = traps.give_up;
  const auto unwind = tap::unwind_information(code());
  const auto registers = tap::registration_code(registration(), layout_.unwind());
  return memory.write(layout_.at, std::as_bytes(std::span(traps.code)), stopped) &&
         memory.write(layout_.unwind(), std::as_bytes(std::span(unwind)), stopped) &&
         memory.write(registration(), std::as_bytes(std::span(registers)), stopped);
}

bool TapArea::write_name(const ProcessMemory& memory, Tid stopped) const {
  return memory.write(name(), std::as_bytes(std::span(TapRings::kName)), stopped);
}

std::vector<NetTable::Entry> TapArea::net_entries() const {
  std::vector<NetTable::Entry> out;
  for (std::size_t i = 0; i < tap::kQuestions; ++i)
    out.push_back({.site = traps_[i], .slot = give_up_[i], .original = kInt3, .length = 1, .way = Way::Pad});
  return out;
}

std::optional<tap::Question> TapArea::question_at(RemoteAddr trap) const {
  const auto it = std::ranges::find(traps_, trap);
  if (it == traps_.end()) return std::nullopt;
  return static_cast<tap::Question>(it - traps_.begin());
}

void TapArea::forget_sites(const ProcessMemory& memory, Tid stopped) {
  constexpr RemoteRange kEverywhere{{0}, {std::uint64_t{1} << tap::SiteTable::kAddressBits}};
  write(memory, sites_.forget(kEverywhere), stopped);
}

void TapArea::forget(const ProcessMemory& memory, RemoteRange range, Tid stopped) {
  std::erase_if(unwinders_.untold, [&](const Unwinder& unwinder) { return range.contains(unwinder.function); });
  write(memory, sites_.forget(range), stopped);
  for (const std::uint16_t number : cells_.forget(range)) write(memory, sites_.forget(number), stopped);
}

bool TapArea::enable(const ProcessMemory& memory, bool on, Tid stopped) {
  is_enabled_ = on;
  return memory.write(data() + tap::DataLayout::kEnabledAt, bytes_of(static_cast<std::uint8_t>(on)), stopped);
}

// The way out of a question begins with an instruction that clears the byte: movb $0, distance(%rip).
bool TapArea::turn_off(const ProcessMemory& memory, const NetTable::Entry& entry, Tid stopped) {
  constexpr std::size_t kLength = 7, kDistanceAt = 2;
  const auto code = memory.value<std::array<std::uint8_t, kLength>>(entry.slot);
  if (!code || (*code)[0] != 0xC6 || (*code)[1] != 0x05 || code->back() != 0) return false;
  std::int32_t distance;
  std::memcpy(&distance, code->data() + kDistanceAt, sizeof distance);
  const RemoteAddr data = entry.slot + kLength + static_cast<std::uint64_t>(std::int64_t{distance});
  static_assert(tap::DataLayout::kEnabledAt == 0);
  std::array<char, TapRings::kName.size()> name{};
  memory.read(data + TapLayout::kNameAt, std::as_writable_bytes(std::span(name)));
  memory.write(data, bytes_of(std::uint8_t{0}), stopped);
  return std::string_view(name.data(), name.size()) == TapRings::kName;
}

void TapArea::close(std::shared_ptr<const TapRings> rings, bool is_used) {
  rings_ = std::move(rings);
  taken_ = rings_ ? rings_->taken() : 0;
  is_used_ = is_used;
}

bool TapArea::write(const ProcessMemory& memory, std::span<const tap::Word> words, Tid stopped) {
  return std::ranges::all_of(
      words, [&](const tap::Word& word) { return memory.write(word.at, bytes_of(word.value), stopped); });
}

}  // namespace fade
