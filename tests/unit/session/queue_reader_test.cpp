// Packets in queues of a GPU: read one call at a time, or many at once, and never those of a later call.
#include "session/queue_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace fade {
namespace {

constexpr std::uint64_t kQueueAt = 0x1000, kPacketsAt = 0x10000, kPlacesOfQueue = 16, kPacketBytes = 64;

// Each packet has its index as its last word.
struct MemoryWithQueue final : Memory {
  mutable int reads = 0;
  std::vector<std::byte> head = std::vector<std::byte>(136);
  std::vector<std::byte> packets = std::vector<std::byte>(kPlacesOfQueue * kPacketBytes);
  std::size_t readable = kPlacesOfQueue * kPacketBytes;

  MemoryWithQueue() {
    set(8, kPacketsAt);
    set(24, kPlacesOfQueue);
  }
  void set(std::size_t at, std::uint64_t value) { std::memcpy(head.data() + at, &value, sizeof value); }
  void put(std::uint64_t until) {
    for (std::uint64_t i = given; i < until; ++i)
      std::memcpy(packets.data() + i % kPlacesOfQueue * kPacketBytes + kPacketBytes - 8, &i, sizeof i);
    given = until;
    set(56, until);
  }
  void begin(std::uint64_t until) { set(128, until); }

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    ++reads;
    const bool is_head = from.value < kPacketsAt;
    const auto all = is_head ? std::span(head) : std::span(packets).first(readable);
    const std::uint64_t at = from.value - (is_head ? kQueueAt : kPacketsAt);
    if (at > all.size()) return 0;
    const std::size_t got = std::min(into.size(), all.size() - at);
    std::memcpy(into.data(), all.data() + at, got);
    return got;
  }
  std::uint64_t given = 0;
};

struct QueueReaderTest : ::testing::Test {
  MemoryWithQueue memory;
  QueueReader reader;

  static QueueReader::Places at(std::uint64_t index, std::uint64_t count = 1) {
    return {.program = nullptr, .queue = {kQueueAt}, .index = index, .count = count};
  }
  // The indexes in the packets.
  std::vector<std::uint64_t> read(std::uint64_t index, std::uint64_t count = 1) {
    std::vector<std::uint64_t> out;
    for (auto bytes = reader.packets(memory, at(index, count)); !bytes.empty(); bytes = bytes.subspan(kPacketBytes))
      std::memcpy(&out.emplace_back(), bytes.data() + kPacketBytes - 8, 8);
    return out;
  }
};

using PacketIndexes = std::vector<std::uint64_t>;

TEST_F(QueueReaderTest, GivesThePacketsOfACall) {
  memory.put(3);
  EXPECT_EQ(read(1), PacketIndexes{1});
  EXPECT_EQ(read(1, 2), (PacketIndexes{1, 2}));
  memory.put(18);
  EXPECT_EQ(read(15, 3), (PacketIndexes{15, 16, 17})) << "around the end of the queue";
}

TEST_F(QueueReaderTest, APacketThatMayBeOverwrittenIsNone) {
  memory.put(16);
  EXPECT_EQ(read(0), PacketIndexes{0});
  memory.put(17);
  EXPECT_EQ(read(0), PacketIndexes{});
  EXPECT_EQ(read(1), PacketIndexes{1});
}

TEST_F(QueueReaderTest, OutsideOfARoundEachQuestionReads) {
  memory.put(2);
  EXPECT_EQ(read(1), PacketIndexes{1});
  memory.put(18);
  EXPECT_EQ(read(1), PacketIndexes{});
  EXPECT_FALSE(reader.packets_if_begun(memory, at(17)));
  memory.begin(18);
  const int before = memory.reads;
  const auto begun = reader.packets_if_begun(memory, at(17));
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->size(), kPacketBytes);
  EXPECT_EQ(memory.reads, before + 3) << "the head, the packet, the head";
}

TEST_F(QueueReaderTest, InARoundAQueueIsReadOnce) {
  memory.put(10);
  memory.begin(5);
  reader.begin_round();
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(read(i), PacketIndexes{i});
    EXPECT_EQ(reader.packets_if_begun(memory, at(i)).has_value(), i < 5) << i;
  }
  EXPECT_EQ(memory.reads, 3);
  EXPECT_EQ(read(10, 2).size(), 2u) << "beyond the view";
  reader.end_round();
  memory.put(40);
  reader.begin_round();
  EXPECT_EQ(read(3), PacketIndexes{}) << "an old view is forgotten";
}

TEST_F(QueueReaderTest, ARoundKnowsNothingFromBefore) {
  memory.set(56, 1);
  EXPECT_FALSE(reader.packets_if_begun(memory, at(0)));
  memory.put(1);
  std::memset(memory.packets.data() + kPacketBytes - 8, 7, 1);
  reader.begin_round();
  EXPECT_EQ(read(0), PacketIndexes{7});
}

TEST_F(QueueReaderTest, InARoundPacketsMayBeOverwrittenFirst) {
  memory.put(20);
  reader.begin_round();
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(read(i), i < 4 ? PacketIndexes{} : PacketIndexes{i}) << i;
}

TEST_F(QueueReaderTest, WhatCannotBeReadIsMissing) {
  memory.put(8);
  memory.readable = 5 * kPacketBytes + 10;
  EXPECT_EQ(read(4, 2), PacketIndexes{4});
  EXPECT_EQ(read(6), PacketIndexes{});
  memory.set(24, 12);
  EXPECT_EQ(read(1), PacketIndexes{}) << "no power of two";
  memory.set(24, kPlacesOfQueue);
  memory.set(8, 0);
  EXPECT_EQ(read(1), PacketIndexes{}) << "no packets";
}

}  // namespace
}  // namespace fade
