// The ranks that reports show are those that the recorder reads, and stand where there are any.
#include "base/rank.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/query/engine.hpp"
#include "cli/query_seed.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;
using testing::Not;

class Ranks : public testing::Test {
 protected:
  Recording recording(const std::string& sql) {
    const std::string path = make_recording(directory_, fmt::format("fade-{}.db", ++made_));
    execute(path, sql);
    auto opened = open_recording(path);
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  static std::string env_of(const Environment& environment) {
    std::string json;
    for (const auto& [name, value] : environment)
      json += fmt::format("{}\"{}\":\"{}\"", json.empty() ? "" : ",", name, value);
    return fmt::format("UPDATE process_ SET env = '{{{}}}' WHERE id = 1;", json);
  }
  static std::string table(Recording& of, const char* report, Settings settings = {}) {
    table::StringBytes out;
    Output output{table::Format::Table, {}, &out};
    output.style.terminal = {.tty = true, .color = false, .utf8 = false, .width = 200};
    auto outcome = run_report(of, *find_report(report), settings, {}, output);
    EXPECT_TRUE(outcome) << outcome.error().text();
    return out.text;
  }
  TemporaryDirectory directory_;
  int made_ = 0;
};

TEST_F(Ranks, AreReadAsTheRecorderReadsThem) {
  std::vector<Environment> all{{},
                               {{"RANK", ""}},
                               {{"RANK", "x"}, {"PMI_RANK", "4"}},
                               {{"RANK", "007"}},
                               {{"RANK", "-1"}},
                               {{"RANK", "12345678901"}},
                               {{"WORLD_SIZE", "2"}}};
  for (std::size_t i = 0; i < kRankVariables.size(); ++i) {
    Environment& both = all.emplace_back(Environment{{std::string(kRankVariables[i]), "3"}});
    if (i > 0) both.emplace_back(kRankVariables[i - 1], "5");
  }
  for (const Environment& environment : all) {
    Recording made = recording(env_of(environment));
    auto rank = made.database.one("SELECT rank FROM processes WHERE id = 1");
    ASSERT_TRUE(rank) << rank.error().text();
    EXPECT_EQ(table::raw_text(*rank), rank_of(environment)) << env_of(environment);
  }
}

TEST_F(Ranks, HaveTheirLocalRankAndTheSizeOfTheJob) {
  for (const std::string_view local : kLocalRankVariables)
    for (const std::string_view world : kWorldSizeVariables) {
      Recording made = recording(env_of({{"RANK", "1"}, {std::string(local), "2"}, {std::string(world), "8"}}));
      auto found = made.database.one("SELECT local_rank || '/' || world_size || ' ' || source FROM process_ranks");
      ASSERT_TRUE(found) << found.error().text();
      EXPECT_EQ(table::raw_text(*found), "2/8 RANK") << local << ' ' << world;
    }
}

TEST_F(Ranks, HaveTheirGroupAndMachine) {
  for (const std::string_view group : kGroupRankVariables) {
    Recording made = recording(env_of({{"RANK", "1"}, {std::string(group), "2"}}));
    auto found =
        made.database.one("SELECT group_rank || ' ' || (host = (SELECT host FROM session_)) FROM process_ranks");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(table::raw_text(*found), "2 1") << group;
  }
}

TEST_F(Ranks, AreAColumnWhereThereAreAny) {
  Recording without = recording(""), with = recording(slurp(data_directory() / "ranks.sql"));
  for (const char* report : {"processes", "threads", "verdict", "memory", "errors", "steps"}) {
    EXPECT_THAT(table(without, report), Not(HasSubstr("rank"))) << report;
    EXPECT_THAT(table(with, report), HasSubstr("rank")) << report;
  }
}

TEST_F(Ranks, ChooseRows) {
  Recording made = recording(slurp(data_directory() / "ranks.sql"));
  Settings settings;
  settings.rank = 0;
  EXPECT_THAT(table(made, "processes", settings), AllOf(HasSubstr("uname"), Not(HasSubstr("python3"))));
  settings.rank = 9;
  EXPECT_THAT(table(made, "processes", settings), Not(HasSubstr("python3")));
}

TEST_F(Ranks, AreCountedInAFileThatWasDamaged) {
  Recording made = recording("UPDATE process_ SET env = '{\"RANK\":' WHERE id = 1;");
  EXPECT_THAT(table(made, "processes"), HasSubstr("python3"));
}

}  // namespace
}  // namespace fade::query
