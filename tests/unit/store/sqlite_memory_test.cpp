#include "store/sqlite_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace fade::sqlite {
namespace {

char* take(int bytes, char fill) {
  char* const block = static_cast<char*>(take_block(bytes));
  if (block) std::memset(block, fill, static_cast<std::size_t>(bytes));
  return block;
}

bool holds(const char* block, int bytes, char fill) {
  for (int i = 0; i < bytes; ++i)
    if (block[i] != fill) return false;
  return true;
}

// Sizes on both sides of the border between small and large blocks.
TEST(SqliteMemory, BlocksOfAllSizesKeepTheirBytes) {
  std::vector<std::pair<char*, int>> blocks;
  for (int bytes = 1; bytes < 3000; bytes += 7) blocks.emplace_back(take(bytes, static_cast<char>(bytes % 100)), bytes);
  for (const auto& [block, bytes] : blocks) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 8, 0u);
    EXPECT_GE(size_of_block(block), bytes);
    EXPECT_TRUE(holds(block, bytes, static_cast<char>(bytes % 100))) << bytes;
    free_block(block);
  }
}

TEST(SqliteMemory, AResizedBlockKeepsItsBytes) {
  for (const int from : {1, 16, 100, 1024, 1025, 70000})
    for (const int to : {1, 17, 1000, 1024, 1025, 2000, 200000}) {
      char* const block = take(from, 'a');
      char* const resized = static_cast<char*>(resize_block(block, to));
      ASSERT_NE(resized, nullptr);
      EXPECT_GE(size_of_block(resized), to);
      EXPECT_TRUE(holds(resized, std::min(from, to), 'a')) << from << " to " << to;
      std::memset(resized, 'b', static_cast<std::size_t>(to));
      free_block(resized);
    }
  EXPECT_EQ(size_of_block(nullptr), 0);
  free_block(nullptr);
}

TEST(SqliteMemory, AFreeSmallBlockIsTakenAgain) {
  void* const first = take_block(40);
  free_block(first);
  EXPECT_EQ(take_block(33), first);
  free_block(first);
}

TEST(SqliteMemory, LargeBlocksAreGivenBack) {
  const std::int64_t before = memory_held();
  void* const block = take_block(1 << 20);
  EXPECT_GE(memory_held(), before + (1 << 20));
  free_block(block);
  EXPECT_EQ(memory_held(), before);
}

TEST(SqliteMemory, NoBlockExceedsTheLimit) {
  limit_memory(memory_held() + (4 << 20));
  void* const block = take_block(3 << 20);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(take_block(2 << 20), nullptr);
  EXPECT_EQ(resize_block(block, 5 << 20), nullptr);
  EXPECT_GE(size_of_block(block), 3 << 20) << "a block that cannot grow stays";
  std::vector<void*> small;
  while (void* const one = take_block(1000)) small.push_back(one);
  EXPECT_LT(small.size(), 2u << 10) << "small blocks count, too";
  limit_memory(0);
  void* const more = take_block(2 << 20);
  EXPECT_NE(more, nullptr);
  free_block(more);
  free_block(block);
  for (void* one : small) free_block(one);
}

TEST(SqliteMemory, ABlockMayBeFreedByAnotherThread) {
  char* const block = take(100, 'x');
  std::thread([&] {
    EXPECT_TRUE(holds(block, 100, 'x'));
    free_block(block);
    EXPECT_EQ(take_block(100), block);
    std::memset(block, 'y', 100);
  }).join();
  EXPECT_TRUE(holds(block, 100, 'y'));
  EXPECT_NE(take_block(100), block) << "it is the other thread's";
}

// As those of a sort of millions of rows. The last test: its free blocks stay.
TEST(SqliteMemory, MostOfManySmallBlocksIsGivenBack) {
  constexpr int kBlocks = 100'000, kBytes = 1000;
  const std::int64_t before = memory_held();
  std::vector<void*> taken;
  for (int i = 0; i < kBlocks; ++i) taken.push_back(take_block(kBytes));
  EXPECT_GT(memory_held() - before, 90'000'000);
  for (void* const block : taken) free_block(block);
  EXPECT_LT(memory_held() - before, 40'000'000);
}

}  // namespace
}  // namespace fade::sqlite
