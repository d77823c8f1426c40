// What is read from rings that a program filled, half filled or destroyed.
#include "tap/ring_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace fade::tap {
namespace {

constexpr std::uint64_t kSize = 1024;

class RingTest : public testing::Test {
 protected:
  std::vector<std::byte> memory = std::vector<std::byte>(RingLayout{kSize}.mapped());
  std::vector<Record> records;
  RingReader reader{kSize};

  void put(std::uint64_t at, std::uint64_t value) { std::memcpy(&memory[at], &value, sizeof value); }
  void head(std::uint64_t position) { put(RingLayout::kHeadAt, position); }
  static std::uint64_t place(std::uint64_t position) { return RingLayout::kRecordsAt + position % kSize; }
  void exit_at(std::uint64_t position, std::uint64_t result) {
    put(place(position) + ExitLayout::kResultAt, result);
    put(place(position), head_word(position, 3, RecordKind::Exit, ExitLayout::kSize));
  }
  RingReader::State read(std::size_t most = 1000) { return reader.read(memory, records, most); }
};

TEST_F(RingTest, AnEmptyRingHasNoRecords) {
  EXPECT_EQ(read(), RingReader::State::Read);
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(reader.limit(), kSize - RingLayout::kMostRecord);
}

TEST_F(RingTest, RecordsGoOnForManyRounds) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    exit_at(32 * i, i);
    head(32 * (i + 1));
    ASSERT_EQ(read(), RingReader::State::Read);
    ASSERT_EQ(records.size(), i + 1);
    ASSERT_EQ(records.back().result, i);
    ASSERT_EQ(records.back().function, 3);
  }
}

TEST_F(RingTest, AnEntryIsReadWithTheRecordBehindIt) {
  exit_at(0, 1);
  put(place(32), head_word(32, 3, RecordKind::Entry, EntryLayout::size(0)));
  exit_at(128, 2);
  exit_at(160, 3);
  head(192);
  EXPECT_EQ(read(2), RingReader::State::Read);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records.back().result, 2u);
  EXPECT_EQ(reader.position(), 160u);
}

TEST_F(RingTest, ARecordOfAnEarlierRoundIsNotComplete) {
  for (std::uint64_t i = 0; i < 32; ++i) exit_at(32 * i, i);
  head(1024);
  ASSERT_EQ(read(), RingReader::State::Read);
  head(1024 + 32);  // taken, and not yet written
  EXPECT_EQ(read(), RingReader::State::Waiting);
  EXPECT_EQ(records.size(), 32u);
  exit_at(1024, 7);
  EXPECT_EQ(read(), RingReader::State::Read);
  EXPECT_EQ(records.back().result, 7u);
}

TEST_F(RingTest, RoomThatIsNoRecordIsPassedOver) {
  exit_at(0, 1);
  exit_at(128, 2);
  head(160);
  reader.skip(32, 96);
  EXPECT_EQ(read(), RingReader::State::Read);
  EXPECT_EQ(records.size(), 2u);
}

TEST_F(RingTest, TheFirstRecordMayBeIncompleteToo) {
  head(96);
  EXPECT_EQ(read(), RingReader::State::Waiting);
}

TEST_F(RingTest, AGapIsPassedOverUpToTheNextRecord) {
  exit_at(0, 1);
  exit_at(128, 2);
  head(192);
  ASSERT_EQ(read(), RingReader::State::Waiting);
  reader.pass_gap(memory, 160);
  EXPECT_EQ(reader.position(), 128u);
  ASSERT_EQ(read(), RingReader::State::Waiting);
  EXPECT_EQ(records.back().result, 2u);
  reader.pass_gap(memory, 160);  // the record that is to come is no gap
  EXPECT_EQ(reader.position(), 160u);
}

TEST_F(RingTest, AThreadThatEndedLeavesNothingBehind) {
  exit_at(0, 1);
  head(96);
  ASSERT_EQ(read(), RingReader::State::Waiting);
  reader.give_up(memory);
  EXPECT_EQ(read(), RingReader::State::Read);
  EXPECT_EQ(reader.position(), 96u);
}

TEST_F(RingTest, NoMoreThanAskedForIsRead) {
  for (std::uint64_t i = 0; i < 10; ++i) exit_at(32 * i, i);
  head(320);
  EXPECT_EQ(read(4), RingReader::State::Read);
  EXPECT_EQ(records.size(), 4u);
}

TEST_F(RingTest, AHeadThatWentBackIsBroken) {
  exit_at(0, 1);
  head(32);
  ASSERT_EQ(read(), RingReader::State::Read);
  head(0);
  EXPECT_EQ(read(), RingReader::State::Broken);
}

TEST_F(RingTest, AHeadBetweenRecordsIsBroken) {
  head(33);
  EXPECT_EQ(read(), RingReader::State::Broken);
}

struct Bad {
  const char* name;
  RecordKind kind;
  std::uint64_t length;
};
class BadWords : public RingTest, public testing::WithParamInterface<Bad> {};

TEST_P(BadWords, AreBroken) {
  head(512);
  put(place(0), head_word(0, 1, GetParam().kind, GetParam().length));
  EXPECT_EQ(read(), RingReader::State::Broken);
  EXPECT_TRUE(records.empty());
}
INSTANTIATE_TEST_SUITE_P(All, BadWords,
                         testing::Values(Bad{"no length", RecordKind::Exit, 0}, Bad{"long exit", RecordKind::Exit, 96},
                                         Bad{"long out", RecordKind::ExitWithOut, 32},
                                         Bad{"short entry", RecordKind::Entry, 32},
                                         Bad{"longest", RecordKind::Entry, 480}, Bad{"no kind", RecordKind{0}, 32},
                                         Bad{"other kind", RecordKind{9}, 32}));

// ---------------------------------------------------------------- any bytes (run under ASan)
constexpr int kRings = 1'000'000;

class AnyBytes : public testing::Test {
 protected:
  static constexpr std::uint64_t kSmall = 256;

  // A part of the words looks like those of records, so that the reader comes further than the first.
  void fill() {
    for (std::uint64_t at = 0; at < memory.size(); at += 8) put(at, random());
    for (std::uint64_t at = RingLayout::kRecordsAt; at < memory.size(); at += RingLayout::kGranule)
      if (random() % 4 != 0) put(at, likely_word(at - RingLayout::kRecordsAt));
    if (random() % 4 != 0) put(RingLayout::kHeadAt, RingLayout::kGranule * (random() % 64));
  }
  std::uint64_t likely_word(std::uint64_t place) {
    const std::uint64_t round = reader.position() / kSmall + random() % 2;
    return head_word(round * kSmall + place, 1, static_cast<RecordKind>(random() % 5), 32 * (random() % 6));
  }
  // Calls the functions of the reader in any order, as fade may.
  void use() {
    switch (random() % 6) {
      case 0: return reader.pass_gap(memory, random());
      case 1: return reader.pass_gap(memory, RingLayout::kGranule * (random() % 64));
      case 2: return reader.give_up(memory);
      case 3: return reader.skip(reader.position(), RingLayout::kGranule * (1 + random() % 4));
      default: break;
    }
    records.clear();
    reader.read(memory, records, 100);
    ASSERT_LE(records.size(), 100u);
  }
  void put(std::uint64_t at, std::uint64_t value) { std::memcpy(&memory[at], &value, sizeof value); }

  std::mt19937_64 random{7};
  std::vector<std::byte> memory = std::vector<std::byte>(RingLayout{kSmall}.mapped());
  std::vector<Record> records;
  RingReader reader{kSmall};
};

TEST_F(AnyBytes, AreReadWithinTheRingAndInBoundedTime) {
  for (int ring = 0; ring < kRings; ++ring) {
    fill();
    use();
    if (ring % 16 == 0) reader = RingReader(kSmall);
  }
}

}  // namespace
}  // namespace fade::tap
