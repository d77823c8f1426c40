// Pairs of records, read straight from a ring, against the same records read one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tap/ring_reader.hpp"

namespace fade::tap {
namespace {

constexpr std::uint64_t kRingSize = 1024;

// Writes records as a program does: nested calls, open calls, results, room that never becomes a record.
class Program {
 public:
  std::vector<std::byte> memory = std::vector<std::byte>(RingLayout{kRingSize}.mapped());

  void write_some(std::uint64_t read_until) {
    while (position_ + 2 * RingLayout::kMostRecord < read_until + kRingSize && random_() % 16 != 0) write_one();
    put(RingLayout::kHeadAt, position_ + (random_() % 8 == 0 ? RingLayout::kGranule : 0));
  }
  bool is_writing_more() const { return position_ < 200'000; }

 private:
  void write_one() {
    if (!open_.empty() && random_() % 5 < 3) return write_exit();
    open_.push_back({static_cast<std::uint16_t>(1 + random_() % 3), sp_ -= 64});
    record(RecordKind::Entry, EntryLayout::size(random_() % 4));
  }
  void write_exit() {
    const bool out = random_() % 3 == 0;
    record(out ? RecordKind::ExitWithOut : RecordKind::Exit, out ? ExitLayout::kSizeWithOut : ExitLayout::kSize);
    open_.pop_back();
    sp_ += 64;
  }
  void record(RecordKind kind, std::uint64_t length) {
    const std::uint64_t at = RingLayout::kRecordsAt + position_ % kRingSize;
    put(at + EntryLayout::kTscAt, tsc_ += random_() % 100);
    put(at + EntryLayout::kStackPointerAt, open_.back().sp);
    put(at + (kind == RecordKind::Entry ? EntryLayout::kReturnAddressAt : ExitLayout::kResultAt), random_() % 4);
    put(at, head_word(position_, open_.back().function, kind, length));
    position_ += length;
  }
  void put(std::uint64_t at, std::uint64_t value) { std::memcpy(&memory[at], &value, sizeof value); }

  struct Open {
    std::uint16_t function;
    std::uint64_t sp;
  };
  std::mt19937_64 random_{11};
  std::vector<Open> open_;
  std::uint64_t position_ = 0, sp_ = 1 << 20, tsc_ = 0;
};

void expect_same(const RecordPair& pair, const Record& entry, const Record& exit) {
  EXPECT_EQ(entry.kind, RecordKind::Entry);
  EXPECT_NE(exit.kind, RecordKind::Entry);
  EXPECT_EQ(pair.function, entry.function);
  EXPECT_EQ(pair.function, exit.function);
  EXPECT_EQ(pair.entry_tsc, entry.tsc);
  EXPECT_EQ(pair.exit_tsc, exit.tsc);
  EXPECT_EQ(pair.sp, entry.sp);
  EXPECT_EQ(pair.exit_sp, exit.sp);
  EXPECT_EQ(pair.return_address, entry.return_address);
  EXPECT_EQ(pair.result, exit.result);
}

TEST(RecordPairs, AreTheRecordsThatAreReadOneByOne) {
  Program program;
  RingReader pairs{kRingSize}, singles{kRingSize};
  std::size_t taken = 0, left = 0;
  while (program.is_writing_more()) {
    program.write_some(pairs.position());
    for (;;) {
      RecordPair pair;
      std::vector<Record> two, one;
      const bool is_pair = pairs.next_pair(program.memory, pair);
      singles.read(program.memory, two, is_pair ? 2 : 1);
      if (is_pair) {
        ASSERT_EQ(two.size(), 2u);
        expect_same(pair, two[0], two[1]);
        pairs.pass(pair);
        ++taken;
      } else {
        pairs.read(program.memory, one, 1);
        ASSERT_EQ(one.size(), two.size());
        left += one.size();
      }
      ASSERT_EQ(pairs.position(), singles.position());
      if (two.empty()) break;
    }
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(left, 100u);
}

TEST(RecordPairs, RoomThatIsToBePassedOverComesFirst) {
  std::vector<std::byte> memory(RingLayout{kRingSize}.mapped());
  const auto put = [&](std::uint64_t at, std::uint64_t value) { std::memcpy(&memory[at], &value, sizeof value); };
  put(RingLayout::kRecordsAt, head_word(0, 1, RecordKind::Entry, EntryLayout::size(0)));
  put(RingLayout::kRecordsAt + 96, head_word(96, 1, RecordKind::Exit, ExitLayout::kSize));
  RingReader reader{kRingSize};
  RecordPair pair;
  EXPECT_TRUE(reader.next_pair(memory, pair));
  reader.skip(96, 32);
  EXPECT_FALSE(reader.next_pair(memory, pair));
}

// The reader trusts nothing (run under ASan).
TEST(RecordPairs, AreReadWithinTheRing) {
  std::mt19937_64 random{5};
  std::vector<std::byte> memory(RingLayout{256}.mapped());
  for (int i = 0; i < 200'000; ++i) {
    RingReader reader{256};
    for (std::uint64_t at = 0; at < memory.size(); at += 8) {
      const bool is_word = at >= RingLayout::kRecordsAt && at % 32 == 0 && random() % 4 != 0;
      const std::uint64_t value = is_word ? head_word(at - RingLayout::kRecordsAt + random() % 2 * 256, 1,
                                                      static_cast<RecordKind>(random() % 5), 32 * (random() % 6))
                                          : random();
      std::memcpy(&memory[at], &value, sizeof value);
    }
    RecordPair pair;
    for (int k = 0; k < 20 && reader.next_pair(memory, pair); ++k) reader.pass(pair);
    ASSERT_LE(reader.position(), 20u * 2 * RingLayout::kMostRecord);
  }
}

}  // namespace
}  // namespace fade::tap
