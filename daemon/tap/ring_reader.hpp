// Reads the records of one thread's ring, in the order in which they were begun. Trusts nothing that the program wrote:
// each record is copied and checked. Tracing thread only.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tap/layout.hpp"

namespace fade::tap {

struct Record {
  RecordKind kind{};
  std::uint16_t function = 0;
  std::uint64_t tsc = 0;
  std::uint64_t sp = 0;              // stack pointer at the entry of the function
  std::uint64_t return_address = 0;  // of an entry
  std::array<std::uint64_t, 6> registers{};
  std::array<std::uint64_t, EntryLayout::kMostStackWords> stack{};
  std::uint64_t result = 0;  // of an exit
  std::array<std::uint64_t, ExitLayout::kMostOut / 8> out{};
};

// Two records that follow each other: the entry of a call, and the exit of a call of the same function.
struct RecordPair {
  std::uint16_t function = 0;
  std::uint64_t entry_tsc = 0, exit_tsc = 0;
  std::uint64_t sp = 0, exit_sp = 0, return_address = 0, result = 0;
  std::uint64_t length = 0;  // of both
  // In the ring, where the program may change them: the words of both records.
  const std::byte *registers = nullptr, *stack = nullptr, *out = nullptr;  // out: null if the record has none
};

class RingReader {
 public:
  // The state of a ring after a read.
  //   Read     everything up to the head was read
  //   Waiting  the next record is not complete: its thread is in the middle of a tap, or left it by longjmp
  //   Broken   the program overwrote the ring; nothing more can be read from it
  enum class State : std::uint8_t { Read, Waiting, Broken };

  // `size`: RingLayout::size.
  explicit RingReader(std::uint64_t size) : size_(size) {}

  // Appends the complete records to `out`, at most `most`; and one more behind an entry, which may be its exit. `ring`:
  // the whole ring as it is now (RingLayout::mapped()).
  State read(std::span<const std::byte> ring, std::vector<Record>& out, std::size_t most);
  // Copies the next two records, which stay the next ones until pass(). False: read() is to look at them, because they
  // are no such pair, or not complete.
  bool next_pair(std::span<const std::byte> ring, RecordPair& out) const;
  void pass(const RecordPair& pair) { position_ += pair.length; }
  // The limit that lets the thread use all room that was read. To be stored at RingLayout::kLimitAt.
  std::uint64_t limit() const { return position_ + size_ - RingLayout::kMostRecord; }
  std::uint64_t position() const { return position_; }  // of the next record
  // The thread stands still, and its next record is to begin at `until`: room before it that has not become a record is
  // passed over. Such room is left by a longjmp out of a signal handler that met the thread in a tap.
  void pass_gap(std::span<const std::byte> ring, std::uint64_t until);
  // The thread has ended: what was not complete will never be.
  void give_up(std::span<const std::byte> ring);
  // The room from `position` on will never be a record: read() passes over it.
  void skip(std::uint64_t position, std::uint64_t length) { skipped_.push_back({position, length}); }

 private:
  struct Skipped {
    std::uint64_t position, length;
  };
  bool pass_skipped();

  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::vector<Skipped> skipped_;  // few
};

}  // namespace fade::tap
