// The views are the interface: all are documented, and all run on a file in which nothing happened.
#include <gmock/gmock.h>

#include <set>

#include "schema/schema.hpp"
#include "store/sqlite.hpp"

namespace fade::store {
namespace {

class Views : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(opened);
    db = std::move(*opened);
    for (const auto part : {schema::tables(), schema::views(), schema::docs()}) {
      const auto done = db.exec(part);
      ASSERT_TRUE(done) << done.error().text();
    }
  }

  std::set<std::string> strings(const std::string& sql) {
    std::set<std::string> out;
    auto stmt = db.prepare(sql);
    EXPECT_TRUE(stmt) << sql << ": " << (stmt ? "" : stmt.error().text());
    while (stmt && stmt->step().value_or(false)) out.emplace(stmt->text(0));
    return out;
  }

  sqlite::Db db;
};

TEST_F(Views, RunWithPlainSqliteOnAnEmptyFile) {
  const auto views = strings("SELECT name FROM sqlite_master WHERE type = 'view'");
  const std::set<std::string> known_by_fade = {"element_types", "peak_rates", "result_rules"};
  EXPECT_GE(views.size(), 30u);
  for (const std::string& view : views) {
    const std::set<std::string> rows = strings("SELECT count(*) > 0 FROM \"" + view + "\"");
    EXPECT_EQ(rows, std::set<std::string>{known_by_fade.count(view) ? "1" : "0"}) << view;
  }
}

TEST_F(Views, EveryColumnIsDocumentedAndNothingElse) {
  const auto columns = strings(
      "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'view' "
      "UNION SELECT name || '.' FROM sqlite_master WHERE type = 'view'");
  EXPECT_EQ(strings("SELECT view || '.' || \"column\" FROM doc_ WHERE text <> ''"), columns);
}

TEST_F(Views, NamesOfRocpdAreThere) {
  const auto views = strings("SELECT name FROM sqlite_master WHERE type = 'view'");
  for (const char* name :
       {"regions", "kernels", "memory_copies", "memory_allocations", "top", "top_kernels", "processes", "threads"})
    EXPECT_TRUE(views.count(name)) << name;
}

TEST_F(Views, TablesArePrivateByNameAndStrict) {
  for (const std::string& table : strings("SELECT name FROM sqlite_master WHERE type = 'table'"))
    EXPECT_EQ(table.back(), '_') << table;
  EXPECT_THAT(strings("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%STRICT%'"),
              testing::UnorderedElementsAre("call_", "copy_"))
      << "only where millions of rows come from one writer";
}

TEST_F(Views, NoIndexSlowsTheRecordingDown) {
  EXPECT_THAT(strings("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"), testing::IsEmpty());
}

}  // namespace
}  // namespace fade::store
