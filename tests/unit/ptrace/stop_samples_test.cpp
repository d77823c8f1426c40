#include "ptrace/stop_samples.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fade {
namespace {

// A thread with a file of its times below a /proc folder, and the tracer that serves it.
class Stops {
 public:
  Stops() { write(); }
  ~Stops() { std::filesystem::remove_all(folder_); }

  // The thread runs for 3 ns and waits for 5 ns until its next stop, where it is held for 100 ns. `turns`: 1 if it ran
  // without a break.
  void go(Tid tid = kThread, std::uint64_t turns = 1) {
    ran_ += 3;
    turns_ += turns;
    write();
    now_ += 8;
    add(samples.stopped(tid, now_));
    samples.resumes(tid, now_ += 100);
  }
  void add(const std::optional<StopSample>& sample) {
    if (!sample) return;
    sum.stops += sample->stops;
    sum.ns += sample->ns;
  }

  static constexpr Tid kThread = 77;
  StopSample sum;

 private:
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fade-proc-XXXXXX").string();
    const std::filesystem::path folder = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder / "77");
    return folder;
  }
  void write() const { std::ofstream(folder_ / "77/schedstat") << ran_ << " 9 " << turns_ << '\n'; }
  const std::filesystem::path folder_ = make_folder();
  std::int64_t ran_ = 1000, now_ = 5000;
  std::uint64_t turns_ = 3;

 public:
  StopSamples samples{ProcFiles(folder_.string())};
};

TEST(StopSamples, CountTheTimeInWhichTheThreadNeitherRanNorWasHeld) {
  Stops stops;
  for (int i = 0; i < 32 + 4; ++i) stops.go();
  EXPECT_EQ(stops.sum.stops, 4u);
  EXPECT_EQ(stops.sum.ns, 4 * 5);
}

TEST(StopSamples, CoverAllStopsOfAThreadThatNeverWaits) {
  Stops stops;
  for (int i = 0; i < 1000; ++i) stops.go();
  EXPECT_GT(stops.sum.stops, 850u);
  EXPECT_EQ(stops.sum.ns, static_cast<std::int64_t>(stops.sum.stops) * 5);
}

TEST(StopSamples, LeaveOutBlocksInWhichTheThreadWaitedForSomethingElse) {
  Stops stops;
  for (int i = 0; i < 1000; ++i) stops.go(Stops::kThread, 2);
  EXPECT_EQ(stops.sum.stops, 0u);
}

TEST(StopSamples, GetShorterUntilTheyFitBetweenTwoWaits) {
  Stops stops;
  for (int i = 0; i < 1000; ++i) stops.go(Stops::kThread, i % 3 == 0 ? 2 : 1);
  EXPECT_GT(stops.sum.stops, 5u);
  EXPECT_EQ(stops.sum.ns, static_cast<std::int64_t>(stops.sum.stops) * 5);
}

TEST(StopSamples, AreNotEndedByAnotherThreadsStops) {
  Stops stops;
  for (int i = 0; i < 32; ++i) stops.go();
  for (int i = 0; i < 50; ++i) stops.add(stops.samples.stopped(78, 1));
  for (int i = 0; i < 4; ++i) stops.go();
  EXPECT_EQ(stops.sum.stops, 4u);
}

TEST(StopSamples, AreGivenUpIfTheThreadCallsNoMore) {
  Stops stops;
  for (int i = 0; i < 32; ++i) stops.add(stops.samples.stopped(78, 1));  // has no file
  for (int i = 0; i < 32; ++i) stops.go();
  EXPECT_EQ(stops.sum.stops, 0u);
  for (int i = 0; i < 1000; ++i) stops.add(stops.samples.stopped(78, 1));
  for (int i = 0; i < 100; ++i) stops.go();
  EXPECT_GT(stops.sum.stops, 0u);
}

TEST(StopSamples, EndWhereAnotherPartOfTheTracerResumedTheThread) {
  Stops stops;
  for (int i = 0; i < 31; ++i) stops.go();
  stops.add(stops.samples.stopped(Stops::kThread, 1'000'000));  // begins a block; the resumption is not reported
  stops.add(stops.samples.stopped(Stops::kThread, 2'000'000));
  EXPECT_EQ(stops.sum.stops, 0u);
}

}  // namespace
}  // namespace fade
