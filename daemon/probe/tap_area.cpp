#include "probe/tap_area.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include "probe/entry_jump.hpp"
#include "probe/instruction.hpp"
#include "tap/unwind.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kTapReach = (std::uint64_t{1} << 31) - 4096;
constexpr std::array<std::uint8_t, 5> kUndoPush{0x48, 0x8D, 0x64, 0x24, 0x08};  // lea 8(%rsp), %rsp

bool is_in_reach(RemoteAddr a, RemoteAddr b) { return (a > b ? a - b : b - a) < kTapReach; }

void append_code(std::vector<std::uint8_t>& to, const auto& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

}  // namespace

// One write: threads behind the bytes go on in the breakpoint's pad.
bool TapArea::write_pad(const ProcessMemory& memory, RemoteAddr pad, std::span<const std::uint8_t> first, Tid stopped) {
  auto word = memory.value<std::array<std::uint8_t, 8>>(pad);
  if (!word) return false;
  std::ranges::copy(first, word->begin());
  return memory.write(pad, bytes_of(*word), stopped);
}

TapArea TapArea::fork_copy() const {
  TapArea out(at_);
  out.traps_ = traps_;
  out.give_up_ = give_up_;
  out.cells_ = cells_;
  out.next_ = next_;
  out.unwinders_ = unwinders_;
  out.unwinders_.teller = 0;  // it is told once more: that does no harm
  out.unwinders_.unloading = 0;
  out.has_gates_ = has_gates_;
  return out;
}

bool TapArea::write_questions(const ProcessMemory& memory, Tid stopped) {
  const tap::Traps traps = tap::traps_code(at_, data());
  traps_ = traps.trap;
  give_up_ = traps.give_up;
  const auto unwind = tap::unwind_information(code());
  const auto registers = tap::registration_code(registration(), at_ + kUnwindAt);
  return memory.write(at_, std::as_bytes(std::span(traps.code)), stopped) &&
         memory.write(at_ + kUnwindAt, std::as_bytes(std::span(unwind)), stopped) &&
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

const TapArea::Cell* TapArea::numbered(std::uint16_t number) const {
  return number < cells_.size() && cells_[number].entry != 0 ? &cells_[number] : nullptr;
}

const TapArea::Cell* TapArea::around(RemoteAddr in_cell) const {
  if (in_cell < cell_at(0) || !code().contains(in_cell)) return nullptr;
  return numbered(static_cast<std::uint16_t>((in_cell - cell_at(0)) / kCellSize));
}

// A cell that was freed is used again as late as possible.
std::optional<std::size_t> TapArea::free_cell() {
  for (std::size_t i = 0; i < kCells; ++i) {
    const std::size_t index = (next_ + i) % kCells;
    if (index < cells_.size() && cells_[index].entry != 0) continue;
    next_ = index + 1;
    return index;
  }
  return std::nullopt;
}

// The jump in the entry is behind the first instruction. If that matters to the next one, what the tap calls begins
// with it. The tap takes a push back.
Result<std::vector<std::uint8_t>> TapArea::code_of(const Site& site, RemoteAddr at, const tap::Tapped& tapped,
                                                   tap::Stub& stub) const {
  const tap::Surroundings around{data(), TapRings::kLayout.size, traps_};
  std::vector<std::uint8_t> code;
  RemoteAddr moved = site.slot;
  if (site.lead.depth != 0) {
    append_code(code, kUndoPush);
    code.resize(16, 0x90);
  }
  if (site.lead.is_repeated()) {
    moved = at + code.size() + tap::stub_code(tapped, around, at + code.size(), site.slot).code.size();
  }
  stub = tap::stub_code(tapped, around, at + code.size(), moved);
  append_code(code, stub.code);
  stub.code.clear();
  if (code.size() + site.lead.length + kJumpSize > kCellSize) return fail("the code of a tap is too long");
  return code;
}

std::optional<std::vector<std::uint8_t>> TapArea::moved_lead(const ProcessMemory& memory, RemoteAddr function,
                                                             EntryLead lead, RemoteAddr to) {
  std::vector<std::uint8_t> code(lead.length);
  if (!memory.read_exactly(function, std::as_writable_bytes(std::span(code)))) return std::nullopt;
  const auto now = entry_lead(code);
  if (!now || now->length != lead.length || now->depth != lead.depth) return std::nullopt;
  auto moved = moved_instruction(code, function, to);
  return moved && moved->size() == lead.length ? std::optional(std::move(*moved)) : std::nullopt;
}

std::optional<std::size_t> TapArea::cell_of(const Site& site, std::uint32_t entry) const {
  const auto it = std::ranges::find_if(cells_, [&](const Cell& cell) {
    return cell.entry == entry && cell.site == site.address && cell.slot == site.slot;
  });
  return it == cells_.end() ? std::nullopt : std::optional<std::size_t>(it - cells_.begin());
}

Result<std::size_t> TapArea::make_cell(const ProcessMemory& memory, const Site& site, std::uint32_t entry,
                                       tap::Tapped tapped, Tid stopped) {
  if (!is_in_reach(site.pad(), at_) || !is_in_reach(site.pad(), at_ + kSize))
    return fail("the area of taps is too far away");
  const auto index = free_cell();
  if (!index) return fail("too many functions are tapped");
  tapped.number = static_cast<std::uint16_t>(*index);
  const RemoteAddr at = cell_at(*index);
  Cell cell{.entry = entry, .site = site.address, .function = site.address - site.lead.length, .slot = site.slot};
  auto code = code_of(site, at, tapped, cell.stub);
  if (!code) return tl::unexpected(std::move(code.error()));
  if (site.lead.is_repeated()) {
    const auto lead = moved_lead(memory, cell.function, site.lead, at + code->size());
    if (!lead) return fail("the first instruction of a function cannot be moved");
    append_code(*code, *lead);
    append_code(*code, jump_code(at + code->size(), site.slot));
  }
  if (!memory.write(at, std::as_bytes(std::span(*code)), stopped)) return fail("cannot write into the process");
  if (*index >= cells_.size()) cells_.resize(*index + 1);
  cells_[*index] = cell;
  return *index;
}

Result<void> TapArea::tap(const ProcessMemory& memory, Site& site, std::uint32_t entry, tap::Tapped tapped,
                          Tid stopped) {
  auto index = cell_of(site, entry);
  if (!index) {
    const auto made = make_cell(memory, site, entry, tapped, stopped);
    if (!made) return tl::unexpected(made.error());
    index = *made;
  }
  site.is_tapped = true;  // before the text: a thread may be there at once
  cells_[*index].last_call = __rdtsc();
  cells_[*index].sums_only = false;
  if (cells_[*index].gate) cells_[*index].gate->mask = 0;
  if (write_pad(memory, site.pad(), jump_code(site.pad(), cell_at(*index)), stopped)) return {};
  site.is_tapped = false;
  return fail("cannot write into the process");
}

bool TapArea::untap(const ProcessMemory& memory, Site& site, Tid stopped) {
  const auto pad = site.entry_pad().code(site.pad(), site.slot);
  if (!write_pad(memory, site.pad(), std::span(pad).first(kJumpSize), stopped)) return false;
  site.is_tapped = false;
  return true;
}

void TapArea::forget_sites(const ProcessMemory& memory, Tid stopped) {
  constexpr RemoteRange kEverywhere{{0}, {std::uint64_t{1} << tap::SiteTable::kAddressBits}};
  write(memory, sites_.forget(kEverywhere), stopped);
}

void TapArea::forget(const ProcessMemory& memory, RemoteRange range, Tid stopped) {
  std::erase_if(unwinders_.untold, [&](const Unwinder& unwinder) { return range.contains(unwinder.function); });
  write(memory, sites_.forget(range), stopped);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].entry == 0 || !range.contains(cells_[i].site)) continue;
    write(memory, sites_.forget(static_cast<std::uint16_t>(i)), stopped);
    cells_[i] = {};
  }
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
  memory.read(data + kNameAt, std::as_writable_bytes(std::span(name)));
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
