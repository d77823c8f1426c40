// How large a file becomes whose size is limited, and that what is left out is counted.
#include "store/size_limit.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>

#include "base/log.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMega = 1 << 20;

TEST(SizeLimit, LeavesOutMoreAndMore) {
  SizeLimit limit(100 * kMega, OnFull::DropCalls, Detail::Calls);
  EXPECT_FALSE(limit.look(89 * kMega, 1, 0));
  EXPECT_TRUE(limit.look(90 * kMega, 2, 0));
  EXPECT_TRUE(!limit.keep().calls && limit.keep().allocs && limit.keep().sums);
  EXPECT_FALSE(limit.look(97 * kMega, 3, 10));
  EXPECT_TRUE(limit.look(98 * kMega, 4, 20));
  EXPECT_TRUE(!limit.keep().allocs && limit.keep().sums && limit.keep().timeline);
  EXPECT_TRUE(limit.look(99 * kMega, 5, 30));
  EXPECT_TRUE(limit.keep().sums && !limit.keep().timeline);
  EXPECT_FALSE(limit.look(102 * kMega, 6, 30));
  EXPECT_TRUE(limit.look(103 * kMega, 7, 30));
  EXPECT_FALSE(limit.keep().sums);
  EXPECT_FALSE(limit.look(200 * kMega, 8, 40));
}

TEST(SizeLimit, OfALargeFileSparesLittle) {
  SizeLimit limit(8192 * kMega, OnFull::Stats, Detail::Calls);
  EXPECT_FALSE(limit.look(8175 * kMega, 1, 0));
  EXPECT_TRUE(limit.look(8176 * kMega, 1, 0));
  EXPECT_FALSE(SizeLimit(8192 * kMega, OnFull::Stats, Detail::Calls).is_near(8000 * kMega));
  EXPECT_TRUE(SizeLimit(8192 * kMega, OnFull::Stats, Detail::Calls).is_near(8150 * kMega));
}

TEST(SizeLimit, MayBeNone) {
  SizeLimit limit(0, OnFull::Stats, Detail::Calls);
  EXPECT_FALSE(limit.look(~std::uint64_t{0}, 1, 0));
  EXPECT_FALSE(limit.is_near(~std::uint64_t{0} / 2));
  EXPECT_TRUE(limit.has_room(1, 1));
}

TEST(SizeLimit, OfSumsAloneLeavesOutTheTimeline) {
  SizeLimit limit(100 * kMega, OnFull::Stats, Detail::Stats);
  EXPECT_FALSE(limit.look(98 * kMega, 1, 0));
  EXPECT_TRUE(limit.look(99 * kMega, 1, 0));
  EXPECT_TRUE(limit.keep().sums && !limit.keep().timeline);
}

TEST(SizeLimit, StopsAtOnceWhereAskedTo) {
  for (const Detail detail : {Detail::Stats, Detail::Calls}) {
    SizeLimit limit(100 * kMega, OnFull::Stop, detail);
    EXPECT_TRUE(limit.look(98 * kMega, 1, 0));
    EXPECT_FALSE(limit.keep().sums);
  }
}

struct Case {
  const char* name;
  OnFull on_full;
  std::uint64_t mega;
  std::function<void(Tracee&, std::uint64_t round)> work;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name << ' ' << c.mega << " M"; }

void calls(Tracee& t, std::uint64_t) { t.call("hipDeviceSynchronize"); }
void allocations(Tracee& t, std::uint64_t n) {
  t.malloc(0x1000 * (n + 1), 10);
  t.call("hipMemset", {0x1000 * (n + 1), 0, 10});
  t.free(0x1000 * (n + 1));
}
void leaks(Tracee& t, std::uint64_t n) { t.malloc(0x1000 * (n + 1), 10); }
void launches(Tracee& t, std::uint64_t n) { t.launch(0x4000 + n % 8 * 16, 1 + static_cast<std::uint32_t>(n % 32)); }
// A thread for each few calls: many sums, few calls.
void threads(Tracee& t, std::uint64_t n) {
  const auto thread = ThreadId::of(static_cast<std::uint32_t>(2 + n / 4));
  if (n % 4 == 0) t.thread(thread, 1, Tid::of(static_cast<pid_t>(1000 + n)));
  t.call("hipDeviceSynchronize", {}, thread);
}
void errors(Tracee& t, std::uint64_t n) { t.fail("hipSetDevice", 101 + n % 500); }

class SizeLimited : public Recording, public testing::WithParamInterface<Case> {};

TEST_P(SizeLimited, EndsWithinFivePercentAndCountsWhatIsMissing) {
  log::set_level(log::Level::Silent);
  const Case& c = GetParam();
  open({.max_bytes = c.mega * kMega, .on_full = c.on_full}, {.calls = 4096, .payload_bytes = 1 << 20, .notices = 4096});
  for (std::uint64_t round = 0; round < 40'000 * c.mega; ++round) c.work(*tracee, round);
  tracee->notice(ProcessEnded{.process = 1, .at = tracee->now(), .exit_code = 0});
  const Totals totals = finish();
  log::set_level(log::Level::Info);
  const auto size = std::filesystem::file_size(path), limit = c.mega * kMega;
  EXPECT_LE(size, limit + limit / 20);
  EXPECT_GE(size, limit - limit / 10);
  const auto rows = std::stoull(value("SELECT count(*) FROM call_")),
             left_out = std::stoull(value("SELECT sum(n) FROM drop_"));
  EXPECT_GT(left_out, 0u);
  EXPECT_EQ(rows + left_out, totals.calls + totals.dropped);
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), std::to_string(totals.calls));
  EXPECT_EQ(value("SELECT clean FROM sessions"), "1");
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const std::pair<const char*, void (*)(Tracee&, std::uint64_t)> kWork[] = {
      {"calls", calls}, {"allocations", allocations}, {"leaks", leaks}, {"launches", launches}, {"threads", threads}};
  for (const OnFull on_full : {OnFull::Stop, OnFull::Stats, OnFull::DropCalls})
    for (const auto& [name, work] : kWork) out.push_back({name, on_full, 3, work});
  out.push_back({"errors", OnFull::Stats, 3, errors});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Of, SizeLimited, testing::ValuesIn(cases()));

class Counted : public Recording {};

// Sums go on whatever comes, as long as functions and threads are the same.
TEST_F(Counted, CallsAreCountedToTheEnd) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 * kMega});
  constexpr std::uint64_t kRounds = 300'000;
  for (std::uint64_t round = 0; round < kRounds; ++round) allocations(*tracee, round);
  const Totals totals = finish();
  log::set_level(log::Level::Info);
  EXPECT_EQ(totals.calls, 3 * kRounds);
  EXPECT_EQ(totals.dropped, 0u);
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), std::to_string(3 * kRounds));
  EXPECT_EQ(value("SELECT sum(calls) FROM process_use_"), std::to_string(3 * kRounds));
  EXPECT_LE(std::filesystem::file_size(path), 3 * kMega + kMega / 10);
}

// They have no rows to leave out: only calls that are no longer counted are missing.
TEST_F(Counted, CallsWithoutRowsAreNotLeftOut) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 * kMega, .detail = Detail::Stats}, {.calls = 4096, .payload_bytes = 1 << 20, .notices = 4096});
  for (std::uint64_t round = 0; round < 120'000; ++round) threads(*tracee, round);
  const Totals totals = finish();
  log::set_level(log::Level::Info);
  EXPECT_EQ(value("SELECT count(*) > 1 FROM drop_"), "1");
  EXPECT_GT(totals.dropped, 0u);
  EXPECT_EQ(value("SELECT sum(n) FROM drop_"), std::to_string(totals.dropped));
}

class TooSmall : public Recording {};

TEST_F(TooSmall, ALimitWithoutRoomForACallIsRefused) {
  queue = std::make_unique<EventQueue>();
  const auto opened = Writer::open({.path = path, .max_bytes = kMega}, {}, *queue);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().fix, HasSubstr("--max-size 3M"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace fade::store
