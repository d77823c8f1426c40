// Several recordings as one: row ids, shared texts, references, and reports that answer as over the files one by one.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/merge/merger.hpp"
#include "cli/query/engine.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/several.hpp"
#include "cli/query_seed.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using merge::Holds;
using merge::Merger;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kColumns =
    "SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND "
    "m.name NOT GLOB 'sqlite_*'";

// Rows of as many tables as fit beside each other.
constexpr const char* kMore[] = {"cuda.sql",         "gpu_memory.sql", "gpu_work.sql",  "imports.sql",
                                 "library_work.sql", "loads.sql",      "memory.sql",    "ranges.sql",
                                 "samples.sql",      "sensors.sql",    "postmortem.sql"};

// Two runs with the same row ids, of which the second began later and on another machine.
class Merge : public testing::Test {
 protected:
  std::string recording(const std::string& name, int later) {
    std::string path = make_recording(folder_, name);
    for (const char* more : kMore) execute(path, slurp(data_directory() / more));
    execute(path, "UPDATE session_ SET start_ns = start_ns + " + std::to_string(later) + ", host = 'box" +
                      std::to_string(later) + "', boot_id = 'boot" + std::to_string(later) + "'");
    return path;
  }
  std::string merged(const std::vector<std::string>& paths, const std::string& name = "all.db") {
    const std::string out = folder_.file(name);
    const auto done = merge_files(paths, out);
    EXPECT_TRUE(done) << done.error().text();
    return out;
  }

  // Each file is opened once: SQLite reads all views then.
  sqlite3* connection(const std::string& path) {
    auto& known = connections_[path];
    if (known) return known.get();
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    known.reset(db);
    return db;
  }
  std::vector<std::vector<std::string>> rows(const std::string& path, const std::string& sql) {
    std::vector<std::vector<std::string>> out;
    sqlite3_exec(
        connection(path), sql.c_str(),
        [](void* to, int n, char** values, char**) {
          auto& row = static_cast<std::vector<std::vector<std::string>>*>(to)->emplace_back();
          for (int i = 0; i < n; ++i) row.emplace_back(values[i] ? values[i] : "NULL");
          return 0;
        },
        &out, nullptr);
    EXPECT_STREQ(sqlite3_errmsg(connection(path)), "not an error") << sql;
    return out;
  }
  std::int64_t number(const std::string& path, const std::string& sql) {
    const auto all = rows(path, sql);
    return all.empty() ? -1 : std::stoll(all[0][0]);
  }

  TemporaryDirectory folder_;
  merge::References references_{schema::references()};

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  std::map<std::string, std::unique_ptr<sqlite3, Close>> connections_;
};

TEST_F(Merge, EachColumnOfTheSchemaIsSaidToHoldIdsOrNumbers) {
  const std::string path = make_recording(folder_, "a.db", false);
  std::set<std::string> tables, targets;
  for (const auto& row : rows(path, kColumns)) {
    tables.insert(row[0]);
    if (row[2] != "INTEGER" && row[2] != "BLOB") continue;
    const auto holds = references_.in(row[0], row[1]);
    ASSERT_TRUE(holds) << "schema/references.tsv lacks " << row[0] << "." << row[1];
    if (holds->what != Holds::What::Numbers) targets.insert(holds->table);
    if (row[1] == "id") {
      EXPECT_EQ(holds->table, row[0]);
    }
  }
  EXPECT_TRUE(std::ranges::includes(tables, targets)) << "a word of schema/references.tsv names no table";
}

TEST_F(Merge, EachWordOfTheListIsAColumnOfTheSchema) {
  const std::string path = make_recording(folder_, "a.db", false);
  std::set<std::string> known, stale;
  for (const auto& row : rows(path, kColumns)) known.insert({row[0], row[1], row[0] + "." + row[1]});
  std::istringstream text{std::string(schema::references())};
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string word;
    for (words >> word; words >> word;)
      if (!known.contains(word)) stale.insert(word);
  }
  EXPECT_THAT(stale, IsEmpty());
}

TEST_F(Merge, AllRowsAreThere) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1), all = merged({a, b});
  std::set<std::string> tables;
  for (const auto& row : rows(all, kColumns)) tables.insert(row[0]);
  const std::string fresh = merged({make_recording(folder_, "empty.db", false)}, "fresh.db");
  for (const std::string& table : tables) {
    const std::string count = "SELECT count(*) FROM " + table;
    if (references_.is_of_file(table) || number(fresh, count) > 0) continue;
    const std::int64_t of_b = references_.is_shared(table) ? 0 : number(b, count);  // equal rows are one
    EXPECT_EQ(number(all, count), number(a, count) + of_b) << table;
  }
  EXPECT_EQ(number(all, "SELECT count(*) FROM session_"), 2);
  EXPECT_EQ(number(all, "SELECT count(DISTINCT host) FROM sessions"), 2);
}

// A reference leads to a row, and to a row of its own file: as often as in the files.
TEST_F(Merge, ReferencesLeadToRowsOfTheSameFile) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1), all = merged({a, b});
  std::map<std::string, std::string> keys;
  for (const auto& row : rows(all,
                              "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE "
                              "m.type = 'table' AND c.pk = 1"))
    keys[row[0]] = row[1];
  int compared = 0;
  for (const auto& row : rows(all, kColumns)) {
    const auto holds = row[2] == "INTEGER" ? references_.in(row[0], row[1]) : Holds{};
    if (!holds || holds->what != Holds::What::Ids || holds->table == row[0] || holds->table == "gpu_") continue;
    const std::string hits = "SELECT count(*) FROM " + row[0] + " x JOIN " + holds->table + " y ON y." +
                             keys[holds->table] + " = x." + row[1];
    EXPECT_EQ(number(all, hits), number(a, hits) + number(b, hits)) << row[0] << "." << row[1];
    compared += number(a, hits) > 0;
  }
  EXPECT_GT(compared, 60) << "the seed has rows for most references";
}

std::string told(Recording& recording, const std::string& report, const std::string& session) {
  const Report& found = *find_report(report);
  Settings settings;
  settings.session = session;
  for (const ReportColumn& column : found.columns)  // numbers of rows differ, those of processes do not
    if (column.kind != table::Kind::Id || column.name == "pid") settings.columns.push_back(column.name);
  table::StringBytes out;
  auto outcome = run_report(recording, found, settings, {}, {table::Format::Tsv, {}, &out});
  EXPECT_TRUE(outcome) << report << ": " << outcome.error().text();
  return out.text;
}

// Rows that are equal in the column that sorts them have the order of row ids as text.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  std::ranges::sort(out);
  return out;
}

TEST_F(Merge, EachReportOfASessionIsAsOfItsFile) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1), path = merged({a, b});
  auto one = open_recording(b), all = open_recording(path);
  ASSERT_TRUE(one && all);
  int with_rows = 0;
  for (const Report& report : reports()) {
    if (report.name == "schema" || report.name == "export") continue;  // of the file; and with numbers of rows in text
    const std::string wanted = told(*one, report.name, {});
    EXPECT_EQ(sorted_lines(told(*all, report.name, "2")), sorted_lines(wanted)) << report.name;
    with_rows += std::ranges::count(wanted, '\n') > 1;
  }
  EXPECT_GT(with_rows, 60);
}

std::int64_t sum(const std::string& path, const std::string& report, const std::string& column) {
  auto recording = open_recording(path);
  EXPECT_TRUE(recording);
  const std::string sql = find_report(report)->sql_for([](std::string_view) { return false; });
  auto value = recording->database.one("WITH r AS (" + sql + ") SELECT sum(" + column + ") FROM r");
  EXPECT_TRUE(value) << value.error().text();
  const auto* n = std::get_if<std::int64_t>(&*value);
  return n ? *n : -1;
}

TEST_F(Merge, ReportsOverAllSessionsAddUp) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1), all = merged({a, b});
  constexpr std::pair<const char*, const char*> kSums[] = {
      {"top", "calls"},        {"top", "total_ns"}, {"top", "errors"},  {"errors", "repeats"},  {"steps", "calls"},
      {"kernels", "launches"}, {"copies", "bytes"}, {"waits", "calls"}, {"categories", "calls"}};
  for (const auto& [report, column] : kSums) {
    EXPECT_GT(sum(a, report, column), 0) << report << "." << column;
    EXPECT_EQ(sum(all, report, column), 2 * sum(a, report, column)) << report << "." << column;
  }
}

TEST_F(Merge, AllSessionsAreMeantUnlessOneIsChosen) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  auto all = open_recording(merged({b, a}));
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_TRUE(all->is_merged);
  EXPECT_TRUE(table::is_null(*chosen_session({}, *all)));
  const auto hosts = rows(folder_.file("all.db"), "SELECT host FROM sessions ORDER BY id");
  EXPECT_EQ(hosts, (std::vector<std::vector<std::string>>{{"box0"}, {"box1"}})) << "in order of time";
}

TEST_F(Merge, AFileThatCameAlreadyIsLeftOut) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  std::filesystem::copy_file(a, folder_.file("copy.db"));
  const auto done = merge_files({a, b, a, folder_.file("copy.db")}, folder_.file("all.db"));
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->files, 2);
  EXPECT_EQ(done->sessions, 2);
}

TEST_F(Merge, AFileWithSomeKnownSessionsIsRefused) {
  const std::string a = recording("a.db", 0), more = recording("more.db", 0);
  execute(more, "INSERT INTO session_ (id, kind, start_ns, boot_ns) VALUES (2, 'run', 1800000000000000000, 5)");
  const auto done = merge_files({a, more}, folder_.file("all.db"));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("1 of its 2 sessions"));
}

TEST_F(Merge, ATableOfAnotherFormIsRefused) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  execute(b, "ALTER TABLE oom_ ADD COLUMN mood TEXT");
  const auto done = merge_files({a, b}, folder_.file("all.db"));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("its table oom_ has another form"));
}

TEST_F(Merge, TriggersAndViewsOfAFileDoNothing) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  execute(b,
          "CREATE TRIGGER t AFTER INSERT ON session_ BEGIN DELETE FROM call_; END;"
          "CREATE VIEW evil AS SELECT load_extension('/tmp/x.so')");
  EXPECT_EQ(number(merged({a, b}), "SELECT count(*) FROM call_"), 2 * number(a, "SELECT count(*) FROM call_"));
}

TEST_F(Merge, RowsOfOneFileNeverGetIdsThatTheOtherMissesARowOf) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  execute(a, "UPDATE alloc_ SET fn = 900");  // the first file was cut off before it had the row of this function
  const std::string all = merged({a, b});
  EXPECT_EQ(number(all, "SELECT count(*) FROM alloc_ x JOIN function_ f ON f.id = x.fn WHERE x.fn = 900"), 0);
  EXPECT_EQ(number(all, "SELECT min(id) FROM function_ WHERE session = 2"), 901);
}

TEST_F(Merge, CallsOfAKilledFadeAreKnownByTheLastOne) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  execute(a, "UPDATE session_ SET clean = 0, end_ns = NULL, last_call = 0");
  const std::string all = merged({a, b});
  for (const auto& row : rows(all, "SELECT session, calls FROM arguments_kept"))
    EXPECT_EQ(row[1], std::to_string(number(a, "SELECT count(*) FROM call_"))) << row[0];
}

TEST_F(Merge, NoFileIsMadeForReportsOverSeveral) {
  const std::string a = recording("a.db", 0), b = recording("b.db", 1);
  auto several = open_several({a, b});
  ASSERT_TRUE(several) << several.error().text();
  EXPECT_EQ(several->sessions.size(), 2u);
  EXPECT_EQ(*several->database.one("SELECT count(*) FROM sessions"), table::Value{std::int64_t{2}});
  EXPECT_FALSE(several->database.prepare("DELETE FROM session_")) << "it is read-only";
  EXPECT_FALSE(several->database.prepare("ATTACH 'x' AS y")) << "and stands alone";
}

TEST_F(Merge, PatternsNameFiles) {
  recording("run-1.db", 0), recording("run-2.db", 1);
  EXPECT_THAT(*expanded({folder_.file("run-*.db"), "x.db"}),
              testing::ElementsAre(folder_.file("run-1.db"), folder_.file("run-2.db"), "x.db"));
  EXPECT_FALSE(expanded({folder_.file("no-*.db")}));
  EXPECT_FALSE(is_pattern("SELECT * FROM top"));
}

// ---------------------------------------------------------------- ranks of several files

// A rank that made three steps of `ms` each.
std::string as_rank(int rank, int ms, int world = 2) {
  std::string sql = "UPDATE process_ SET env = '{\"RANK\":\"" + std::to_string(rank) + "\",\"WORLD_SIZE\":\"" +
                    std::to_string(world) + "\"}' WHERE id = 1; DELETE FROM step_; DELETE FROM step_stat_;";
  for (int i = 1; i <= 3; ++i)
    sql += "INSERT INTO step_ VALUES (" + std::to_string(i) + ", 1, 1, " + std::to_string(i) + ", 'step', " +
           std::to_string(i) + "000000000, " + std::to_string(ms) + "000000, 1, 1, 2, 4, 0, 1, 0, 0, 0, 100, 100);";
  return sql;
}

class MergedRanks : public Merge {
 protected:
  std::string rank(int number, int ms, int later, const std::string& more = {}) {
    const std::string path = recording("r" + std::to_string(number) + ".db", later);
    execute(path, as_rank(number, ms) + more);
    return path;
  }
};

TEST_F(MergedRanks, OfOneJobAreComparedAcrossFiles) {
  const std::string all = merged({rank(0, 10, 0), rank(1, 30, 500)});
  EXPECT_EQ(number(all, "SELECT count(DISTINCT job) FROM jobs"), 1);
  EXPECT_EQ(number(all, "SELECT shift FROM jobs WHERE session = 2"), 500);
  auto recording = open_recording(all);
  ASSERT_TRUE(recording);
  EXPECT_THAT(told(*recording, "ranks", {}), HasSubstr("1\tstep\t2\t1\t4242\t1000000500\t30000000\t0\t10000000"));
  EXPECT_THAT(told(*recording, "rank_summary", {}), HasSubstr("\n1\tbox500\t2\t"));
}

TEST_F(MergedRanks, OfOneMachineHaveItsClock) {
  const char* kSame = "UPDATE session_ SET boot_id = 'same', host = 'one', boot_ns = 7000000000 + 500";
  const std::string all =
      merged({rank(0, 10, 0, "UPDATE session_ SET boot_id = 'same', host = 'one', boot_ns = 7000000000"),
              rank(1, 30, 900, kSame)});
  EXPECT_EQ(number(all, "SELECT shift FROM jobs WHERE session = 2"), 500) << "not the difference of the wall clocks";
  EXPECT_EQ(number(all, "SELECT count(DISTINCT machine) FROM jobs"), 1);
}

TEST_F(MergedRanks, OfJobsOneAfterTheOtherAreNotCompared) {
  const std::string all = merged(
      {rank(0, 10, 0), rank(1, 30, 2'000'000'000,
                            "UPDATE session_ SET start_ns = start_ns + 20000000000, end_ns = end_ns + 20000000000")});
  EXPECT_EQ(number(all, "SELECT count(DISTINCT job) FROM jobs"), 2);
}

TEST_F(MergedRanks, ThatComeTwiceAreOfTwoJobs) {
  const std::string first = rank(0, 10, 0), second = recording("again.db", 700);
  execute(second, as_rank(0, 30));
  EXPECT_EQ(number(merged({first, second}), "SELECT count(DISTINCT job) FROM jobs"), 2);
}

TEST_F(MergedRanks, OfJobsOfOtherSizesAreNotCompared) {
  const std::string first = rank(0, 10, 0), second = recording("other.db", 700);
  execute(second, as_rank(1, 30, 16));
  EXPECT_EQ(number(merged({first, second}), "SELECT count(DISTINCT job) FROM jobs"), 2);
}

}  // namespace
}  // namespace fade::query
