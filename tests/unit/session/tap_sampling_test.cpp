#include "session/tap_sampling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fade {
namespace {

// A thread makes calls; it stops where the limit says so.
struct Calls {
  Calls(std::uint32_t every, std::uint64_t begin) : sampling(every, begin), position(begin) {}

  bool record(std::uint64_t size, bool is_entry) {
    bool is_sampled = false;
    while (position >= sampling.limit()) {
      ++stops;
      is_sampled |= sampling.stopped(position, is_entry);
    }
    position += size;
    if (is_entry) sampling.began();
    return is_sampled;
  }
  // Returns the numbers of the sampled calls, from 1 on. The sizes of their records take turns.
  std::vector<int> make(int count, std::vector<std::uint64_t> entry_sizes, std::uint64_t exit_size) {
    std::vector<int> sampled;
    for (int n = 1; n <= count; ++n) {
      if (record(entry_sizes[static_cast<std::size_t>(n) % entry_sizes.size()], true)) sampled.push_back(n);
      record(exit_size, false);
    }
    return sampled;
  }

  TapSampling sampling;
  std::uint64_t position;
  int stops = 0;
};

TEST(TapSampling, EveryNthCallOfOneSizeIsSampled) {
  for (const std::uint64_t begin : {0ull, 1ull << 40}) {
    Calls calls(100, begin);
    const auto sampled = calls.make(1000, {96}, 32);
    ASSERT_EQ(sampled.size(), 10u);
    for (std::size_t i = 0; i < sampled.size(); ++i) EXPECT_EQ(sampled[i], 100 * (static_cast<int>(i) + 1));
    EXPECT_LE(calls.stops, 30);
  }
}

TEST(TapSampling, CallsOfSeveralSizesNeedFewStopsMore) {
  Calls calls(100, 0);
  const auto sampled = calls.make(100'000, {96, 128, 128}, 64);
  EXPECT_GE(sampled.size(), 980u);
  EXPECT_LE(sampled.size(), 1000u);
  EXPECT_LE(calls.stops, 5000);
}

TEST(TapSampling, EveryCallIfThatIsAsked) {
  Calls calls(1, 0);
  EXPECT_EQ(calls.make(50, {96, 128}, 32).size(), 50u);
}

TEST(TapSampling, NoneStopsNoThread) {
  Calls calls(0, 64);
  EXPECT_TRUE(calls.make(1000, {96}, 32).empty());
  EXPECT_EQ(calls.stops, 0);
}

TEST(TapSampling, AFullRingIsNoSample) {
  TapSampling sampling(100, 0);
  EXPECT_FALSE(sampling.stopped(96, true));
}

}  // namespace
}  // namespace fade
