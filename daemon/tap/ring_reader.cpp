#include "tap/ring_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace fade::tap {
namespace {

constexpr std::ptrdiff_t kAhead = 1024;  // bytes, of the mapped memory or behind it

// A word that the program may write at any moment. The fields of a record are read after its first word.
std::uint64_t word_at(const std::byte* at) {
  return std::atomic_ref(*const_cast<std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(at)))
      .load(std::memory_order_acquire);
}

// The word names its position: that of an earlier round is no word of a record here, nor is a ring that is still empty.
bool is_word_of(std::uint64_t word, std::uint64_t position) {
  return word != 0 && word >> 24 == (position / RingLayout::kGranule & 0xFF'FFFF'FFFF);
}

std::uint64_t length_of(std::uint64_t word) { return (word & 0xF) * RingLayout::kGranule; }

RecordKind kind_of(std::uint64_t word) { return static_cast<RecordKind>(word >> 4 & 0xF); }

std::uint64_t field_at(const std::byte* record, std::int32_t offset) {
  std::uint64_t out = 0;
  std::memcpy(&out, record + offset, sizeof out);
  return out;
}

bool is_length_of(RecordKind kind, std::uint64_t length) {
  switch (kind) {
    case RecordKind::Entry: return length == EntryLayout::size(0) || length == EntryLayout::size(6);
    case RecordKind::Exit: return length == ExitLayout::kSize || length == ExitLayout::kSizeWithOut;
    case RecordKind::ExitWithOut: return length == ExitLayout::kSizeWithOut;
  }
  return false;
}

void decode(std::uint64_t word, const std::byte* at, Record& record) {
  record.kind = kind_of(word);
  record.function = static_cast<std::uint16_t>(word >> 8);
  const auto field = [at](std::int32_t offset, auto& into) { std::memcpy(&into, at + offset, sizeof into); };
  field(EntryLayout::kTscAt, record.tsc);
  field(EntryLayout::kStackPointerAt, record.sp);
  if (record.kind == RecordKind::Entry) {
    field(EntryLayout::kReturnAddressAt, record.return_address);
    field(EntryLayout::kRegistersAt, record.registers);
    if (length_of(word) == EntryLayout::size(EntryLayout::kMostStackWords)) {
      field(EntryLayout::kStackAt, record.stack);
    } else {
      std::memcpy(record.stack.data(), at + EntryLayout::kStackAt, 16);
    }
    return;
  }
  field(ExitLayout::kResultAt, record.result);
  if (record.kind == RecordKind::ExitWithOut) field(ExitLayout::kOutAt, record.out);
}

}  // namespace

RingReader::State RingReader::read(std::span<const std::byte> ring, std::vector<Record>& out, std::size_t most) {
  const std::uint64_t head = word_at(ring.data() + RingLayout::kHeadAt);
  const auto ends_with_entry = [&] { return !out.empty() && out.back().kind == RecordKind::Entry; };
  for (std::size_t n = 0; n < most || (n == most && ends_with_entry()); ++n) {
    while (pass_skipped()) {}
    if (position_ == head) return State::Read;
    if (head < position_ || head % RingLayout::kGranule != 0) return State::Broken;
    const std::byte* at = ring.data() + RingLayout::kRecordsAt + (position_ & (size_ - 1));
    const std::uint64_t word = word_at(at);
    if (!is_word_of(word, position_)) return State::Waiting;
    const std::uint64_t length = length_of(word);
    if (!is_length_of(kind_of(word), length)) return State::Broken;
    __builtin_prefetch(at + kAhead);  // the program's core may have the line
    decode(word, at, out.emplace_back());
    position_ += length;
  }
  return State::Read;
}

// Positions ahead of the head have no word that names them.
bool RingReader::next_pair(std::span<const std::byte> ring, RecordPair& out) const {
  if (!skipped_.empty()) return false;
  const auto place = [&](std::uint64_t position) {
    return ring.data() + RingLayout::kRecordsAt + (position & (size_ - 1));
  };
  const std::byte* const entry = place(position_);
  const std::uint64_t word = word_at(entry), length = length_of(word);
  if (!is_word_of(word, position_) || kind_of(word) != RecordKind::Entry || !is_length_of(RecordKind::Entry, length))
    return false;
  const std::byte* const exit = place(position_ + length);
  const std::uint64_t end = word_at(exit), end_length = length_of(end);
  if (!is_word_of(end, position_ + length) || kind_of(end) == RecordKind::Entry ||
      !is_length_of(kind_of(end), end_length) || (word ^ end) >> 8 & 0xFFFF)
    return false;
  __builtin_prefetch(entry + kAhead);
  __builtin_prefetch(entry + kAhead + 64);
  out = {.function = static_cast<std::uint16_t>(word >> 8),
         .entry_tsc = field_at(entry, EntryLayout::kTscAt),
         .exit_tsc = field_at(exit, ExitLayout::kTscAt),
         .sp = field_at(entry, EntryLayout::kStackPointerAt),
         .exit_sp = field_at(exit, ExitLayout::kStackPointerAt),
         .return_address = field_at(entry, EntryLayout::kReturnAddressAt),
         .result = field_at(exit, ExitLayout::kResultAt),
         .length = length + end_length,
         .registers = entry + EntryLayout::kRegistersAt,
         .stack = entry + EntryLayout::kStackAt,
         .out = kind_of(end) == RecordKind::ExitWithOut ? exit + ExitLayout::kOutAt : nullptr};
  return true;
}

void RingReader::pass_gap(std::span<const std::byte> ring, std::uint64_t until) {
  until = std::min(until, position_ + size_);
  while (position_ < until) {
    const std::uint64_t word = word_at(ring.data() + RingLayout::kRecordsAt + (position_ & (size_ - 1)));
    if (is_word_of(word, position_)) return;
    position_ += RingLayout::kGranule;
  }
}

void RingReader::give_up(std::span<const std::byte> ring) {
  const std::uint64_t head = word_at(ring.data() + RingLayout::kHeadAt);
  if (head > position_ && head % RingLayout::kGranule == 0) position_ = head;
  skipped_.clear();
}

bool RingReader::pass_skipped() {
  const auto found = std::ranges::find(skipped_, position_, &Skipped::position);
  if (found == skipped_.end()) return false;
  position_ += found->length;
  skipped_.erase(found);
  return true;
}

}  // namespace fade::tap
