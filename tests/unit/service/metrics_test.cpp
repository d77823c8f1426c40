// The daemon's numbers as OpenMetrics text. tests/e2e/test_metrics.py reads the same with Prometheus' own parser.
#include "service/metrics.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace fade::service {
namespace {

using testing::HasSubstr;
using testing::Not;

SessionRecord session(std::uint64_t id, std::uint64_t calls) {
  SessionRecord out;
  out.id = id;
  out.uid = 1000;
  out.pid = 4242;
  out.program = "train";
  out.state = State::Recording;
  out.calls = calls;
  out.launches = calls / 2;
  out.errors = 3;
  out.memory_bytes = 1 << 20;
  out.gpu_busy_ns = 1'500'000'000;
  return out;
}

std::size_t lines_with(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++n;
  return n;
}

TEST(Metrics, CountersAreSumsOfSessionsThatRunAndThatEnded) {
  Metrics metrics{.live = {session(1, 10), session(2, 20)}};
  metrics.ended.add(session(3, 100));
  const std::string text = open_metrics(metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE fade_calls counter\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_calls_total 130\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_launches_total 65\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_errors_total 9\n"));
  EXPECT_THAT(text, HasSubstr("# UNIT fade_gpu_busy_seconds seconds\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_gpu_busy_seconds_total 4.5\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_memory_bytes 2097152\n")) << "of those that run";
  EXPECT_THAT(text,
              HasSubstr("\nfade_session_calls_total{session=\"2\",uid=\"1000\",pid=\"4242\",program=\"train\"} 20\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(Metrics, LargeNumbersAreWhole) {
  Metrics metrics{.live = {session(1, 12'345'678'901'234)}};
  EXPECT_THAT(open_metrics(metrics), HasSubstr("\nfade_calls_total 12345678901234\n"));
}

TEST(Metrics, SessionsAreCountedByState) {
  Metrics metrics{.live = {session(1, 10)}, .started = {{"attach", 3}}, .finished = {{"lost", 2}}, .watches = 4};
  metrics.live[0].state = State::Paused;
  const std::string text = open_metrics(metrics);
  EXPECT_THAT(text, HasSubstr("\nfade_sessions{state=\"paused\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_sessions{state=\"recording\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_sessions_started_total{via=\"attach\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_sessions_ended_total{state=\"lost\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\nfade_watches 4\n"));
}

TEST(Metrics, TheNumberOfSeriesIsBounded) {
  Metrics metrics;
  for (std::uint64_t i = 1; i <= kMostSeries + 7; ++i) metrics.live.push_back(session(i, i));
  const std::string text = open_metrics(metrics);
  EXPECT_EQ(lines_with(text, "fade_session_calls_total{"), kMostSeries);
  EXPECT_THAT(text, HasSubstr("\nfade_sessions_without_series 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("session=\"7\""))) << "those with fewest calls have none";
  EXPECT_THAT(text, HasSubstr("session=\"8\""));
}

TEST(Metrics, NamesOfProgramsCannotBreakThePage) {
  Metrics metrics{.live = {session(1, 1)}};
  metrics.live[0].program = "a\"b\\c\nd\xff}";
  const std::string text = open_metrics(metrics);
  EXPECT_THAT(text, HasSubstr("program=\"a\\\"b\\\\c\\\\x0ad\xef\xbf\xbd}\"}"));
}

TEST(Metrics, AGpuHasOneSampleHoweverManySessionsTellIt) {
  Metrics metrics{.live = {session(1, 1), session(2, 1)}};
  for (SessionRecord& one : metrics.live) one.gpus = {{1, 40, 1 << 30}, {2, std::nullopt, std::nullopt}};
  const std::string text = open_metrics(metrics);
  EXPECT_EQ(lines_with(text, "\nfade_gpu_busy_ratio{node=\"1\"} 0.4\n"), 1u);
  EXPECT_THAT(text, HasSubstr("\nfade_gpu_memory_bytes{node=\"1\"} 1073741824\n"));
  EXPECT_THAT(text, Not(HasSubstr("node=\"2\""))) << "the driver told nothing of it";
}

TEST(SessionRecord, TakesWhatTheGpusDid) {
  SessionRecord record = session(1, 1);
  ASSERT_TRUE(take_report(record, ipc::Json::parse(R"({"event":"tick","launches":7,"gpu_busy_ns":8,
    "gpus":[{"node":1,"busy_percent":30},{"busy_percent":1},{"node":"x"}]})")));
  EXPECT_EQ(record.launches, 7u);
  EXPECT_EQ(record.gpu_busy_ns, 8);
  ASSERT_EQ(record.gpus.size(), 1u);
  EXPECT_EQ(record.gpus[0].busy_percent, 30);
  const auto again = record_from(to_json(record));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->launches, 7u);
}

}  // namespace
}  // namespace fade::service
