#include "cli/top/reader.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::cli::top {
namespace {

std::int64_t number(const std::string& path, const char* sql) {
  auto database = query::Database::open(path);
  return std::get<std::int64_t>(*database->one(sql));
}

template <class Rows, class Member>
std::int64_t total(const Rows& rows, Member member) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                         [&](std::int64_t sum, const auto& row) { return sum + row.*member; });
}

class TopReader : public testing::Test {
 protected:
  const query::TemporaryDirectory directory_;
};

TEST_F(TopReader, SumsAreThoseOfTheViews) {
  const std::string path = query::make_recording(directory_, "run.db");
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().text();
  const auto sums = reader->read(0, true);
  ASSERT_TRUE(sums) << sums.error().text();
  const std::string session = " WHERE session = (SELECT max(id) FROM sessions)";
  const auto sql = [&](const std::string& select) { return number(path, (select + session).c_str()); };
  EXPECT_EQ(total(sums->functions, &NamedSums::calls), sql("SELECT coalesce(sum(calls), 0) FROM call_stats"));
  EXPECT_EQ(total(sums->functions, &NamedSums::total_ns), sql("SELECT coalesce(sum(total_ns), 0) FROM call_stats"));
  EXPECT_EQ(total(sums->processes, &ProcessSums::calls), sql("SELECT coalesce(sum(calls), 0) FROM call_stats"));
  EXPECT_EQ(total(sums->processes, &ProcessSums::errors), total(sums->functions, &NamedSums::errors));
  EXPECT_EQ(total(sums->processes, &ProcessSums::waited_ns), sql("SELECT coalesce(sum(blocked_ns), 0) FROM waits"));
  EXPECT_EQ(total(sums->processes, &ProcessSums::memory),
            number(path,
                   "SELECT coalesce(sum(live_at_end), 0) FROM memory_totals WHERE memory = 'device' AND session = "
                   "(SELECT max(id) FROM sessions)"));
  EXPECT_EQ(total(sums->lines, &NamedSums::calls), sql("SELECT coalesce(sum(calls), 0) FROM stack_stats"));
}

TEST_F(TopReader, ReadsAgainWithoutCountingTwice) {
  auto reader = Reader::open(query::make_recording(directory_, "run.db"));
  const auto first = reader->read(0, true), second = reader->read(1, true);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(total(first->lines, &NamedSums::samples), total(second->lines, &NamedSums::samples));
  EXPECT_EQ(first->functions.size(), second->functions.size());
  EXPECT_EQ(*reader->mark(), *reader->mark());
}

TEST_F(TopReader, NamesOfTheProgramAreHarmless) {
  const std::string path = query::make_recording(directory_, "run.db");
  query::execute(path,
                 "UPDATE function_ SET name = 'evil' || char(27) || '[2J' || char(8238) || char(10); UPDATE process_ "
                 "SET command = char(27) || 'x'");
  auto reader = Reader::open(path);
  const auto sums = reader->read(0, true);
  ASSERT_TRUE(sums);
  for (const NamedSums& row : sums->functions) EXPECT_EQ(row.name, "evil\\x1b[2J\\u202e\\n");
  for (const ProcessSums& row : sums->processes) EXPECT_EQ(row.command.find('\x1b'), std::string::npos);
}

TEST_F(TopReader, ARecordingWithoutASessionIsRefused) {
  const auto reader = Reader::open(query::make_recording(directory_, "empty.db", false));
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().cause, testing::HasSubstr("no session"));
}

}  // namespace
}  // namespace fade::cli::top
