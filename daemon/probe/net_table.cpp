#include "probe/net_table.hpp"

#include <algorithm>
#include <utility>

namespace fade {
namespace {

constexpr int kSlotBits = 47, kLengthShift = 55, kGuardShift = 59, kWayShift = 62;  // of the second word of an entry

// net_code.S computes the same.
std::uint64_t first_place(RemoteAddr site) { return (site.value * 0x9E3779B97F4A7C15) >> (64 - NetLayout::kTableBits); }
std::uint64_t next_place(std::uint64_t place) { return (place + 1) % NetLayout::kTableEntries; }

}  // namespace

tl::unexpected<Error> damaged_net(std::string how) {
  return fail("what an earlier fade left in the process cannot be used", std::move(how));
}

NetTable::Words NetTable::pack(const Entry& entry) {
  if (!entry.slot) return {entry.site.value, 0};
  return {entry.site.value, entry.slot.value | static_cast<std::uint64_t>(entry.original) << kSlotBits |
                                static_cast<std::uint64_t>(entry.length) << kLengthShift |
                                static_cast<std::uint64_t>(entry.guard) << kGuardShift |
                                static_cast<std::uint64_t>(entry.way) << kWayShift};
}

NetTable::Entry NetTable::unpack(const Words& words) {
  return {.site = {words[0]},
          .slot = {words[1] & ((std::uint64_t{1} << kSlotBits) - 1)},
          .original = static_cast<std::uint8_t>(words[1] >> kSlotBits),
          .length = static_cast<std::uint8_t>(words[1] >> kLengthShift & 15),
          .guard = static_cast<Guard>(words[1] >> kGuardShift & 7),
          .way = static_cast<Way>(words[1] >> kWayShift)};
}

bool NetTable::set(const ProcessMemory& memory, Tid stopped, const Entry& entry) {
  const Words words = pack(entry);
  for (std::uint64_t i = first_place(entry.site);; i = next_place(i)) {
    const RemoteAddr at = now_ + i * 16;
    const auto key = memory.value<std::uint64_t>(at);
    if (!key) return false;
    if (*key != 0 && *key != words[0]) continue;
    if (*key == 0) ++taken_;
    // The slot first: as soon as the key is written, the handler may use the slot.
    return memory.write(at + 8, bytes_of(words[1]), stopped) && memory.write(at, bytes_of(words[0]), stopped);
  }
}

// Existing entries are written unchanged, so a concurrent lookup finds them.
bool NetTable::set_all(const ProcessMemory& memory, Tid stopped, std::span<const Entry> entries) {
  constexpr std::size_t kFew = 16;
  FADE_CHECK(entries.size() <= kMostAtOnce);
  if (entries.size() <= kFew)
    return std::ranges::all_of(entries, [&](const Entry& entry) { return set(memory, stopped, entry); });
  auto table = read(memory);
  if (!table) return false;
  for (const Entry& entry : entries) {
    const Words words = pack(entry);
    std::uint64_t i = first_place(entry.site);
    while ((*table)[i][0] != 0 && (*table)[i][0] != words[0]) i = next_place(i);
    taken_ += (*table)[i][0] == 0;
    (*table)[i] = words;
  }
  return memory.write(now_, std::as_bytes(std::span(*table)), stopped);
}

bool NetTable::rewrite(const ProcessMemory& memory, Tid stopped, std::vector<Entry> live) {
  live.insert(live.end(), left_alone_.begin(), left_alone_.end());
  if (live.size() >= kMost) return false;
  std::vector<Words> table(NetLayout::kTableEntries);
  for (const Entry& entry : live) {
    std::uint64_t i = first_place(entry.site);
    while (table[i][0] != 0) i = next_place(i);
    table[i] = pack(entry);
  }
  const RemoteAddr first = net_ + NetLayout::kTablesAt;
  const RemoteAddr other = now_ == first ? first + NetLayout::kTableSize : first;
  if (!memory.write(other, std::as_bytes(std::span(table)), stopped) ||
      !memory.write(net_ + NetLayout::kTableNowAt, bytes_of(other.value), stopped))
    return false;
  now_ = other;
  taken_ = live.size();
  return true;
}

// ---------------------------------------------------------------- remains of an earlier fade

bool NetTable::find(const Memory& memory) {
  const RemoteAddr first = net_ + NetLayout::kTablesAt;
  const auto now = memory.value<RemoteAddr>(net_ + NetLayout::kTableNowAt);
  if (!now || (*now != first && *now != first + NetLayout::kTableSize)) return false;
  now_ = *now;
  return true;
}

bool NetTable::count(const Memory& memory) {
  const auto words = read(memory);
  if (!words) return false;
  taken_ = static_cast<std::uint64_t>(std::ranges::count_if(*words, [](const Words& w) { return w[0] != 0; }));
  return taken_ < NetLayout::kTableEntries;  // or a search would never end
}

Result<std::vector<NetTable::Words>> NetTable::read(const Memory& memory) const {
  std::vector<Words> words(NetLayout::kTableEntries);
  if (!memory.read_exactly(now_, std::as_writable_bytes(std::span(words))))
    return damaged_net("its table cannot be read");
  return words;
}

Result<std::vector<NetTable::Entry>> NetTable::entries(const Memory& memory) const {
  const auto words = read(memory);
  if (!words) return tl::unexpected(words.error());
  std::vector<Entry> out;
  for (const Words& w : *words) {
    const Entry entry = unpack(w);
    if (!entry.site || !entry.slot) continue;
    if (entry.site.value >> 47 || entry.length == 0 || entry.guard > Guard::Clone || entry.way > Way::Pad)
      return damaged_net("its table is not what it should be");
    out.push_back(entry);
  }
  return out;
}

}  // namespace fade
