// The memory of taps inside a process, as the code of a tap (stub.cpp), the tables (tables.hpp) and the reader of rings
// (ring_reader.hpp) agree on it. Offsets in bytes.
//
// Data area: private to the process, wiped in the child of a fork, so a child's taps are off and know no thread.
// Ring: memory that the tracer maps too. It belongs to one thread. A fork's child keeps it until it has its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace fade::tap {

// The data area.
struct DataLayout {
  static constexpr std::uint64_t kEnabledAt = 0;  // a byte; 0: taps only call their function
  // Words of 32 bits, one for each gate: a call whose number has one of these bits is only counted. 0: every call goes
  // through to the tap.
  static constexpr std::uint64_t kMasksAt = 0x800, kGates = 128;
  // Buckets of four pairs: thread pointer (fs base), address of the thread's ring. Pair 0: free.
  static constexpr std::uint64_t kThreadsAt = 0x1000, kThreadsSize = 0x10000, kThreadsInBucket = 4;
  // Buckets of eight keys: return address, with the function's number in the upper 16 bits. 0: free.
  static constexpr std::uint64_t kSitesAt = kThreadsAt + kThreadsSize, kSitesSize = 0x10000, kSitesInBucket = 8;
  static constexpr std::uint64_t kBucket = 64;
  static constexpr std::uint64_t kSize = kSitesAt + kSitesSize;
};

// The offset of a key's bucket in a table of 64 KiB: bits from the middle of a product, where the low bits of a key
// count as well as its high ones.
constexpr std::int32_t kHashFactor = 0x61C88647;
constexpr std::uint8_t kHashShift = 26;
constexpr std::int32_t kHashMask = 0x10000 - static_cast<std::int32_t>(DataLayout::kBucket);
constexpr std::uint64_t bucket_of(std::uint64_t key) {
  return (key * static_cast<std::uint64_t>(kHashFactor) >> kHashShift) & static_cast<std::uint64_t>(kHashMask);
}

// A ring: its head, then records. Positions count bytes since the ring was made; they never wrap.
struct RingLayout {
  static constexpr std::uint64_t kHeadAt = 0;   // position of the next record; the thread adds to it
  static constexpr std::uint64_t kLimitAt = 8;  // records begin below this position; the tracer moves it
  static constexpr std::uint64_t kRecordsAt = 64;
  static constexpr std::uint64_t kGranule = 32;  // records begin and end at multiples of it
  static constexpr std::uint64_t kMostRecord = 128;

  // Of the records; a power of two. A record at the end goes on behind it.
  std::uint64_t size = 0;
  constexpr std::uint64_t mapped() const { return kRecordsAt + size + kMostRecord; }

  // Behind the records, two words for each gate: the number of the thread's next call, and its calls that were only
  // counted. Only the thread changes them.
  static constexpr std::uint64_t kCounters = 16, kNumberAt = 0, kCountedAt = 8;
  constexpr std::uint64_t counters_at(std::uint16_t gate) const { return mapped() + kCounters * gate; }
  constexpr std::uint64_t with_counters() const { return counters_at(DataLayout::kGates); }
};

// A record begins with this word, which is written last. It names the record's position, so that the word of an
// earlier round is never taken for a new one.
//   63..24 position / kGranule    23..8 function    7..4 RecordKind    3..0 length / kGranule
enum class RecordKind : std::uint8_t { Entry = 1, Exit = 2, ExitWithOut = 3 };
constexpr std::uint64_t head_word(std::uint64_t position, std::uint16_t function, RecordKind kind,
                                  std::uint64_t length) {
  return position / RingLayout::kGranule << 24 | static_cast<std::uint64_t>(function) << 8 |
         static_cast<std::uint64_t>(kind) << 4 | length / RingLayout::kGranule;
}

// Fields of records.
struct EntryLayout {
  static constexpr std::int32_t kWordAt = 0, kTscAt = 8, kStackPointerAt = 16, kReturnAddressAt = 24, kRegistersAt = 32,
                                kStackAt = 80;
  static constexpr std::size_t kMostStackWords = 6;
  static constexpr std::uint64_t size(std::size_t stack_words) { return stack_words <= 2 ? 96 : 128; }
};
struct ExitLayout {
  static constexpr std::int32_t kWordAt = 0, kTscAt = 8, kStackPointerAt = 16, kResultAt = 24, kOutAt = 32;
  static constexpr std::uint64_t kSize = 32, kSizeWithOut = 64;
  static constexpr std::size_t kMostOut = 16;  // bytes
  static_assert(kOutAt + kMostOut <= kSizeWithOut);
};

}  // namespace fade::tap
