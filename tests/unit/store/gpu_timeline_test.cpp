// The busy time of a device is the union of its works in whatever order they become known, and a time without work has
// the cause that the host's calls show.
#include <random>

#include "schema/schema.hpp"
#include "store/gpu_timeline.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GpuBusy : public testing::Test {
 protected:
  GpuBusy() {
    EXPECT_TRUE(db.exec(("PRAGMA synchronous = OFF; BEGIN;" + std::string(schema::tables()) + "COMMIT").c_str()));
    timeline.emplace(db, failure);
  }
  ~GpuBusy() override { EXPECT_FALSE(failure); }

  std::int64_t kernel(std::int64_t start, std::int64_t end, const GpuEdge& edge = {}) {
    return timeline->add({.process = 1, .device = 1, .is_kernel = true, .start = start, .end = end, .edge = edge});
  }
  std::int64_t copy(std::int64_t start, std::int64_t end) {
    return timeline->add({.process = 1, .device = 1, .is_copy = true, .start = start, .end = end});
  }
  std::vector<std::string> rows(const std::string& sql) {
    EXPECT_TRUE(db.exec("BEGIN"));
    timeline->flush();
    EXPECT_TRUE(db.exec("COMMIT"));
    return rows_of(directory.file("x.db"), sql);
  }
  // A work of thread 1 that `call` put to run between entry and exit.
  static GpuEdge by(std::int64_t call, std::int64_t entry, std::int64_t exit, std::int64_t previous = 0) {
    return {CallRow::of(call), 1, entry + 1, entry, exit, previous};
  }

  TemporaryDirectory directory;
  sqlite::Db db = std::move(*sqlite::Db::open(directory.file("x.db"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  Failure failure;
  std::optional<GpuTimeline> timeline;
};

TEST_F(GpuBusy, CountsNoMomentTwice) {
  EXPECT_EQ(kernel(100, 200), 100);
  EXPECT_EQ(kernel(150, 250), 50);
  EXPECT_EQ(kernel(120, 180), 0);
  EXPECT_EQ(kernel(300, 400), 100);
  EXPECT_EQ(kernel(50, 350), 100);
  EXPECT_THAT(rows("SELECT first_ts, last_ts, busy, kernels, copies, n FROM gpu_span_"),
              ElementsAre("50|400|350|350|0|5"));
}

TEST_F(GpuBusy, TellsCopiesBeneathKernels) {
  kernel(100, 200);
  copy(150, 260);
  copy(180, 240);
  EXPECT_THAT(rows("SELECT busy, kernels, copies, kernels + copies - busy FROM gpu_span_"),
              ElementsAre("160|100|110|50"));
}

TEST_F(GpuBusy, IsDividedBySeconds) {
  kernel(1'999'999'000, 2'000'002'000);
  kernel(2'000'001'000, 2'000'003'000);
  EXPECT_THAT(rows("SELECT sec, busy FROM gpu_busy_"), ElementsAre("1|1000", "2|3000"));
}

TEST_F(GpuBusy, IsTheSameInEveryOrder) {
  std::mt19937 random(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> works;
  std::vector<bool> covered(20'000);
  for (int i = 0; i < 3'000; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 19'000);
    works.emplace_back(start, start + 1 + static_cast<std::int64_t>(random() % 9));
  }
  for (const auto& [start, end] : works)
    for (std::int64_t at = start; at < end; ++at) covered[static_cast<std::size_t>(at)] = true;
  const std::string busy = std::to_string(std::count(covered.begin(), covered.end(), true));
  for (const auto& [start, end] : works) kernel(start, end);
  EXPECT_THAT(rows("SELECT busy FROM gpu_span_"), ElementsAre(busy));
  const std::string idle = "SELECT sum(n), sum(ns), max(max) FROM gpu_gap_";
  const auto gaps = rows(idle);
  std::ranges::sort(works);
  for (const auto& [start, end] : works)
    timeline->add({.process = 2, .device = 1, .is_kernel = true, .start = start, .end = end});
  EXPECT_THAT(rows("SELECT DISTINCT busy FROM gpu_span_"), ElementsAre(busy));
  EXPECT_EQ(rows(idle + " WHERE process = 2"), gaps);
}

// Memory is bounded: idle times of long ago are final.
TEST_F(GpuBusy, CountsEachIdleTimeOnceThoughItForgets) {
  const std::int64_t n = 5 * GpuTimeline::kMostSpans;
  for (std::int64_t i = 0; i < n; ++i) {
    kernel(i * 100, i * 100 + 40);
    if (i % 10'000 == 0) timeline->flush();
  }
  EXPECT_EQ(kernel(10, 50), 0);
  EXPECT_THAT(rows("SELECT busy, n, late FROM gpu_span_"),
              ElementsAre(std::to_string(n * 40) + "|" + std::to_string(n + 1) + "|1"));
  EXPECT_THAT(rows("SELECT n, ns, max FROM gpu_gap_"),
              ElementsAre(std::to_string(n - 1) + "|" + std::to_string((n - 1) * 60) + "|60"));
  EXPECT_THAT(rows("SELECT count(*) FROM gpu_idle_"), ElementsAre(std::to_string(GpuTimeline::kMostIdle)));
}

TEST_F(GpuBusy, GoesOnAfterItsProcessRanAnotherProgram) {
  kernel(100, 200);
  timeline->end_process(1);
  kernel(300, 400);
  EXPECT_THAT(rows("SELECT busy, late FROM gpu_span_"), ElementsAre("200|0"));
  EXPECT_THAT(rows("SELECT n, ns FROM gpu_gap_"), ElementsAre("1|100"));
}

// ---------------------------------------------------------------- why a device was idle

class GpuIdleCauses : public GpuBusy {
 protected:
  std::vector<std::string> causes() { return rows("SELECT cause, n, ns FROM gpu_gap_ ORDER BY cause"); }
};

TEST_F(GpuIdleCauses, WorkThatWasQueuedBefore) {
  kernel(1'000, 2'000, by(1, 100, 200));
  kernel(2'500, 3'000, by(2, 300, 400));
  EXPECT_THAT(causes(), ElementsAre("queued|1|500"));
}

TEST_F(GpuIdleCauses, LaunchesBackToBack) {
  kernel(150, 200, by(1, 100, 300));
  kernel(450, 500, by(2, 350, 550, 300));
  EXPECT_THAT(causes(), ElementsAre("launch|1|250"));
}

// The work before may be of any thread.
TEST_F(GpuIdleCauses, LaunchesBackToBackOfOneOfManyThreads) {
  GpuEdge other = by(1, 100, 190);
  other.thread = 2;
  kernel(150, 200, other);
  kernel(450, 500, by(2, 350, 550, 300));
  EXPECT_THAT(causes(), ElementsAre("launch|1|250"));
}

TEST_F(GpuIdleCauses, ALaunchThatWasOpenAllTheTime) {
  kernel(150, 200, by(1, 100, 190));
  GpuEdge slow = by(2, 180, 5'000, 10);
  slow.at = 4'000;
  kernel(4'100, 4'500, slow);
  EXPECT_THAT(causes(), ElementsAre("launch|1|3900"));
}

TEST_F(GpuIdleCauses, TheHostDidSomethingElse) {
  kernel(150, 200, by(1, 100, 300));
  kernel(9'050, 9'100, by(2, 9'000, 9'200, 300));
  EXPECT_THAT(causes(), ElementsAre("host|1|8850"));
}

TEST_F(GpuIdleCauses, TheHostHadWaited) {
  kernel(150, 1'000, by(1, 100, 200));
  timeline->waited(1, {.entry = 300, .exit = 1'100, .is_copy = false, .call = 2});
  kernel(1'300, 2'000, by(3, 1'200, 1'250));
  timeline->waited(1, {.entry = 1'400, .exit = 2'100, .is_copy = true, .call = 4});
  kernel(2'300, 2'400, by(5, 2'200, 2'250));
  EXPECT_THAT(causes(), ElementsAre("copy|1|300", "sync|1|300"));
  EXPECT_THAT(rows("SELECT ts, cause, asked, before, after, wait FROM gpu_idle_"),
              ElementsAre("1000|sync|1201|1|3|2", "2000|copy|2201|3|5|4"));
}

TEST_F(GpuIdleCauses, AWaitOfAnotherThreadIsNone) {
  kernel(150, 1'000, by(1, 100, 200));
  timeline->waited(2, {.entry = 300, .exit = 9'000, .is_copy = false, .call = 2});
  kernel(1'800, 2'000, by(3, 1'700, 1'750));
  EXPECT_THAT(causes(), ElementsAre("host|1|800"));
}

// As many rounds as no bounded list of waits holds: in each a launch, the wait for it, and a wait for nothing.
TEST_F(GpuIdleCauses, OfManyRoundsAreTheWaits) {
  constexpr std::int64_t kRounds = 100'000;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    const std::int64_t at = 10'000 * (i + 1);
    kernel(at + 150, at + 1'000, by(3 * i + 1, at + 100, at + 200));
    timeline->waited(1, {.entry = at + 300, .exit = at + 1'100, .is_copy = false, .call = CallRow::of(3 * i + 2)});
    timeline->waited(1, {.entry = at + 1'200, .exit = at + 1'300, .is_copy = false, .call = CallRow::of(3 * i + 3)});
  }
  EXPECT_THAT(rows("SELECT cause, n FROM gpu_gap_"), ElementsAre("sync|99999"));
}

TEST_F(GpuIdleCauses, OfManyThreadsAreTheWaits) {
  constexpr std::int64_t kThreads = 70'000;
  for (std::int64_t i = 1; i <= kThreads; ++i) {
    GpuEdge edge = by(2 * i, 100 * i, 100 * i + 9);
    edge.thread = ThreadRow::of(i);
    kernel(100 * i + 10, 100 * i + 40, edge);
    timeline->waited(ThreadRow::of(i + 1),
                     {.entry = 100 * i + 20, .exit = 100 * i + 50, .call = CallRow::of(2 * i + 1)});
  }
  EXPECT_THAT(rows("SELECT cause, n FROM gpu_gap_"), ElementsAre("sync|69999"));
}

TEST_F(GpuIdleCauses, AreNotKnownWhereWaitsWereForgotten) {
  timeline->waited(1, {.entry = 300, .exit = 1'100, .is_copy = false, .call = 2});
  for (std::int64_t i = 1; i <= 200'000; ++i)
    timeline->waited(1, {.entry = 10'000 * i, .exit = 10'000 * i + 9, .is_copy = false, .call = 3});
  kernel(150, 1'000, by(1, 100, 200));
  kernel(1'800, 2'000, by(4, 1'700, 1'750));
  EXPECT_THAT(causes(), ElementsAre("unknown|1|800"));
}

TEST_F(GpuIdleCauses, AreKnownThoughTheWorkIsToldLate) {
  timeline->waited(1, {.entry = 300, .exit = 1'100, .is_copy = false, .call = 2});
  kernel(150, 1'000, by(1, 100, 200));
  kernel(1'800, 2'000, by(3, 1'700, 1'750));
  EXPECT_THAT(causes(), ElementsAre("sync|1|800"));
}

TEST_F(GpuIdleCauses, AWaitForAnotherDeviceSaysNothing) {
  kernel(150, 1'000, by(1, 100, 200));
  timeline->waited(1, {.entry = 300, .exit = 1'100, .is_copy = false, .call = 2, .device = 2});
  kernel(1'300, 2'000, by(3, 1'200, 1'250));
  timeline->waited(1, {.entry = 1'400, .exit = 2'100, .is_copy = false, .call = 4, .device = 1});
  kernel(2'300, 2'400, by(5, 2'200, 2'250));
  EXPECT_THAT(causes(), ElementsAre("sync|1|300", "unknown|1|300"));
}

TEST_F(GpuIdleCauses, AreNotKnownWithoutACall) {
  kernel(100, 200);
  kernel(300, 400);
  kernel(9'050, 9'100, {0, 1, 9'000, 0, 0});
  kernel(9'350, 9'400, {7, 1, 9'300, 0, 0});
  kernel(9'550, 9'600, {0, 1, 9'390, 0, 0});
  EXPECT_THAT(causes(), ElementsAre("queued|1|150", "unknown|3|9000"));
}

}  // namespace
}  // namespace fade::store
