#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "cli/query/command.hpp"
#include "cli/query/recording.hpp"
#include "cli/query/target.hpp"
#include "cli/query_seed.hpp"

namespace fade::query {
namespace {

using table::Value;
using testing::ElementsAre;
using testing::HasSubstr;

Error error_of(const std::string& path) {
  auto opened = open_recording(path);
  EXPECT_FALSE(opened) << path;
  return opened ? Error{} : opened.error();
}

Value first(Recording& r, const std::string& sql) {
  auto value = r.database.one(sql);
  EXPECT_TRUE(value) << value.error().text();
  return value.value_or(Value{});
}

TEST(Open, SaysWhatIsWrongWithAFile) {
  TemporaryDirectory dir;
  EXPECT_THAT(error_of(dir.file("none.db")).cause, HasSubstr("No such file"));
  EXPECT_THAT(error_of(dir.path()).cause, HasSubstr("directory"));
  EXPECT_THAT(error_of("/dev/null").cause, HasSubstr("not a file"));
  std::ofstream(dir.file("empty.db")).close();
  EXPECT_THAT(error_of(dir.file("empty.db")).cause, HasSubstr("empty"));
  std::ofstream(dir.file("text.db")) << "hello, world: no database";
  EXPECT_THAT(error_of(dir.file("text.db")).cause, HasSubstr("not an SQLite database"));
  execute(dir.file("other.db"), "CREATE TABLE t(a)");
  EXPECT_THAT(error_of(dir.file("other.db")).cause, HasSubstr("something else"));
  const std::string newer = make_recording(dir, "newer.db");
  execute(newer, "PRAGMA user_version = 99");
  EXPECT_THAT(error_of(newer).cause, HasSubstr("newer fade (schema 99"));
  const std::string older = make_recording(dir, "older.db");
  execute(older, "PRAGMA user_version = 1");
  EXPECT_THAT(error_of(older).cause, HasSubstr("older fade (schema 1"));
  for (const char* name : {"none.db", "empty.db", "text.db", "other.db", "newer.db", "older.db"})
    EXPECT_FALSE(error_of(dir.file(name)).fix.empty()) << name;
}

TEST(Open, ADamagedFileIsAnErrorAndNoCrash) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  const auto size = std::filesystem::file_size(path);
  std::string bytes = slurp(path);
  for (std::size_t at = 100; at < bytes.size(); at += 7) bytes[at] = static_cast<char>(at);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_FALSE(error_of(path).cause.empty());
  std::filesystem::resize_file(path, size / 2);
  EXPECT_FALSE(error_of(path).cause.empty());
}

TEST(Open, ARecordingClosedInOrderIsReadWithoutTouchingIt) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  ::chmod(path.c_str(), 0400);
  const std::string before = slurp(path);
  auto r = open_recording(path);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(r->state, State::Closed);
  EXPECT_EQ(state_text(*r), "");
  EXPECT_EQ(first(*r, "SELECT count(*) FROM calls"), Value{std::int64_t{13}});
  EXPECT_EQ(slurp(path), before);
}

// A writer in another process: in WAL mode, with something in the log, until told to die.
class Writer {
 public:
  enum class Begins { Now, Soon };
  explicit Writer(const std::string& path, Begins begins = Begins::Now) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    child_ = ::fork();
    if (child_ == 0) {
      sqlite3* db = nullptr;
      sqlite3_open(path.c_str(), &db);
      sqlite3_busy_timeout(db, 10'000);
      const int code = sqlite3_exec(db,
                                    "PRAGMA journal_mode = WAL; UPDATE session_ SET clean = 0, end_ns = NULL; UPDATE "
                                    "thread_ SET name = 'in the log'",
                                    nullptr, nullptr, nullptr);
      (void)!::write(ready[1], code == SQLITE_OK ? "y" : "n", 1);
      for (;;) ::pause();
    }
    char answer = 0;
    if (begins == Begins::Now) {
      EXPECT_EQ(::read(ready[0], &answer, 1), 1);
      EXPECT_EQ(answer, 'y');
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Writer() { kill(); }
  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  pid_t pid() const { return child_; }

 private:
  pid_t child_ = 0;
};

const char* const kSaysBoth = "SELECT 'not closed: fade was killed, or is still recording'";

TEST(Open, AWriterThatComesAtThatMomentIsSeen) {
  TemporaryDirectory dir;
  for (int round = 0; round < 20; ++round) {
    const std::string path = make_recording(dir, "fade-" + std::to_string(round) + ".db");
    const Writer writer(path, Writer::Begins::Soon);
    State state = State::Closed;
    for (int looks = 0; state == State::Closed && looks < 20'000; ++looks) {
      if (const auto r = open_recording(path)) state = r->state;
    }
    ASSERT_EQ(state, State::Running);
  }
}

TEST(Open, ARecordingThatGoesOnIsReadAsItIsNow) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  const Writer writer(path);
  auto r = open_recording(path);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(r->state, State::Running);
  EXPECT_THAT(state_text(*r), HasSubstr("process " + std::to_string(writer.pid())));
  EXPECT_EQ(first(*r, kSaysBoth), Value{std::string("not closed: fade is still recording")});
  EXPECT_EQ(first(*r, "SELECT name FROM threads LIMIT 1"), Value{std::string("in the log")});
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
}

TEST(Open, WhatAKilledWriterLeftIsTakenIntoTheFile) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  Writer writer(path);
  writer.kill();
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0u);
  auto r = open_recording(path);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(r->state, State::Unclosed);
  EXPECT_THAT(state_text(*r), HasSubstr("not closed cleanly (fade was killed, or could not write)"));
  EXPECT_EQ(first(*r, kSaysBoth), Value{std::string("not closed: fade was killed")});
  EXPECT_EQ(first(*r, "SELECT name FROM threads LIMIT 1"), Value{std::string("in the log")});
  EXPECT_FALSE(std::filesystem::exists(path + "-wal") && std::filesystem::file_size(path + "-wal") > 0);
}

TEST(Guard, OnlySelectsRun) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  for (const char* sql : {"INSERT INTO meta_ VALUES('a','b')",
                          "DELETE FROM call_",
                          "UPDATE call_ SET dur = 1",
                          "DROP TABLE call_",
                          "ATTACH ':memory:' AS x",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA writable_schema = 1",
                          "PRAGMA query_only = 0",
                          "CREATE TEMP TABLE t(a)",
                          "BEGIN IMMEDIATE",
                          "VACUUM",
                          "SELECT load_extension('x')",
                          "UPDATE sqlite_master SET sql = ''",
                          "DELETE FROM sqlite_master",
                          "SELECT 1; SELECT 2",
                          "SELECT 1; DELETE FROM call_",
                          "",
                          ";",
                          "SELEC 1",
                          "SELECT writefile('x', 'y')",
                          "REINDEX",
                          "ANALYZE"})
    EXPECT_FALSE(r->database.prepare(sql)) << sql;
  for (const char* sql : {"SELECT 1;  ", "WITH a AS (SELECT 1 AS b) SELECT b FROM a", "PRAGMA table_info(calls)",
                          "SELECT * FROM pragma_table_info('calls')", "EXPLAIN QUERY PLAN SELECT * FROM calls",
                          "SELECT name FROM top WHERE name REGEXP '^hip(Malloc|Free)$' -- the end"})
    EXPECT_TRUE(r->database.prepare(sql)) << sql;
}

TEST(Guard, RefusalsNameWhatWasTried) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  EXPECT_THAT(r->database.prepare("DELETE FROM call_").error().cause, HasSubstr("DELETE is not allowed"));
  EXPECT_THAT(r->database.prepare("PRAGMA journal_mode = DELETE").error().cause,
              HasSubstr("PRAGMA journal_mode is not allowed"));
  EXPECT_THAT(r->database.prepare("ATTACH 'x' AS y").error().cause, HasSubstr("ATTACH is not allowed"));
  EXPECT_THAT(r->database.prepare("SELECT * FROM nowhere").error().cause, HasSubstr("no such table: nowhere"));
}

TEST(Guard, TheMemoryOfTheProcessIsLimitedMeanwhileAlone) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  {
    const auto limit = r->database.limit_memory();
    EXPECT_GT(sqlite3_hard_heap_limit64(-1), 0);
  }
  EXPECT_EQ(sqlite3_hard_heap_limit64(-1), 0);
  EXPECT_EQ(sqlite3_soft_heap_limit64(-1), 0);
}

TEST(Guard, AQueryThatNeverEndsIsCut) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  const auto limit = r->database.limit_memory();
  r->database.limit_time(std::chrono::milliseconds(50));
  auto endless =
      r->database.one("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n");
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().cause, HasSubstr("longer than 0.05 s"));
  r->database.limit_time(std::nullopt);
  EXPECT_TRUE(r->database.one("SELECT 1")) << "the next one runs";
  auto huge = r->database.one("SELECT hex(zeroblob(100000000))");
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().cause, HasSubstr("too long"));
}

TEST(Guard, ViewsOfAForeignFileGainNothing) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  execute(path, "DROP VIEW top; CREATE VIEW top AS SELECT load_extension('/tmp/evil.so') AS name");
  auto r = open_recording(path);
  ASSERT_TRUE(r);
  EXPECT_FALSE(r->database.one("SELECT name FROM top"));
}

TEST(Open, ARecordingOfAnOlderBuildIsGivenTheViewsThatItLacks) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  execute(path,
          "DROP VIEW checks; DROP VIEW session_checks; DROP VIEW finding_checks; DROP VIEW findings;"
          "DROP VIEW device_findings; DROP VIEW jobs;"
          "CREATE VIEW findings AS SELECT 1 AS session, 'warp-size' AS finding UNION ALL SELECT 1, 'double-free';"
          "CREATE VIEW checks AS SELECT 1 AS session, 'errors' AS condition UNION ALL SELECT 1, 'findings'");
  auto r = open_recording(path);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(first(*r, "SELECT group_concat(finding) FROM device_findings"), Value{std::string("warp-size")});
  EXPECT_EQ(first(*r, "SELECT group_concat(condition) FROM session_checks"), Value{std::string("errors")});
  EXPECT_EQ(first(*r, "SELECT group_concat(condition) FROM finding_checks"), Value{std::string("findings")});
  EXPECT_EQ(first(*r, "SELECT count(*) FROM jobs"), Value{std::int64_t{1}});
}

TEST(Functions, RegexpsFindAndRefuseNonsense) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  EXPECT_EQ(first(*r, "SELECT count(*) FROM functions WHERE name REGEXP 'Mem|Malloc'"), Value{std::int64_t{2}});
  EXPECT_EQ(first(*r, "SELECT NULL REGEXP 'a'"), Value{});
  EXPECT_THAT(r->database.one("SELECT 'a' REGEXP '('").error().cause, HasSubstr("bad regular expression"));
  EXPECT_THAT(r->database.one("SELECT 'a' REGEXP '" + std::string(5000, '(') + "'").error().cause,
              HasSubstr("too long"));
}

TEST(Functions, PercentilesComeFromHistograms) {
  TemporaryDirectory dir;
  auto r = open_recording(make_recording(dir, "fade-x.db"));
  ASSERT_TRUE(r);
  // 90 calls in bucket 10 (4096..6143 ns), 10 in bucket 20 (131072..196607 ns).
  const std::string hist = "x'0a5a140a'";
  EXPECT_EQ(first(*r, "SELECT fade_percentile(" + hist + ", 0.5, 4100, 150000)"), Value{std::int64_t{5234}});
  EXPECT_EQ(first(*r, "SELECT fade_percentile(" + hist + ", 0.99, 4100, 150000)"), Value{std::int64_t{150000}})
      << "never beyond the largest";
  EXPECT_EQ(first(*r, "SELECT fade_percentile(x'', 0.5, 1, 2)"), Value{});
  EXPECT_EQ(first(*r, "SELECT fade_percentile(NULL, 0.5, NULL, NULL)"), Value{});
  EXPECT_EQ(first(*r, "SELECT fade_percentile(x'ffffffffffffffffffffff', 0.5, 1, 2)"), Value{})
      << "a damaged histogram has nothing";
  EXPECT_EQ(first(*r, "SELECT fade_trend(column1, column2, 0, 3) FROM (VALUES (0, 5), (3, 7), (3, 1), (9, 100))"),
            Value{std::string("5,0,0,8")});
}

TEST(Find, TheNewestRecordingIsTakenWhereNoneIsNamed) {
  TemporaryDirectory dir;
  EXPECT_THAT(default_recording(nullptr, dir.path()).error().fix, HasSubstr("fade-run"));
  make_recording(dir, "fade-old.db");
  make_recording(dir, "fade-new.db");
  std::ofstream(dir.file("notes.db")) << "SQLite format 3, and what else there is to say about it";
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ::utimensat(AT_FDCWD, dir.file("fade-old.db").c_str(), old, 0);
  EXPECT_EQ(*default_recording(nullptr, dir.path()), dir.file("fade-new.db"));
  ::utimensat(AT_FDCWD, dir.file("fade-new.db").c_str(), old, 0);
  make_recording(dir, "results");
  EXPECT_EQ(*default_recording(nullptr, dir.path()), dir.file("results")) << "a recording has no need of a name";
  EXPECT_EQ(*default_recording("mine.db", dir.path()), "mine.db");
}

TEST(Words, ARecordingThenAReport) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-x.db");
  auto both = read_words({path, "calls"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->path, path);
  EXPECT_EQ(both->report->name, "calls");
  EXPECT_EQ(read_words({})->command->name, "summary");
  EXPECT_EQ(read_words({path})->command->name, "summary");
  EXPECT_EQ(read_words({"nowhere.db"})->path, "nowhere.db");
  EXPECT_THAT(read_words({"sql", "SELECT 1"})->words, ElementsAre("SELECT 1"));
  EXPECT_EQ(read_words({"export", "run.db"})->path, "run.db");
  EXPECT_EQ(read_words({"sql", "SELECT 1", "run.db"})->path, "run.db");
  EXPECT_EQ(read_words({"schema", "run.db"})->path, "") << "its own word";
  EXPECT_THAT(read_words({"schema", "top"})->words, ElementsAre("top"));
}

TEST(Words, OtherToolsNamesMeanTheNearestReport) {
  EXPECT_EQ(read_words({"profile"})->report->name, "top");
  EXPECT_EQ(read_words({"memory-leaks"})->report->name, "leaks");
  EXPECT_EQ(read_words({"backtrace"})->command->name, "postmortem");
}

TEST(Words, WhatIsNotUnderstoodIsUsageAndNamesTheNearest) {
  auto typo = read_words({"tpo"});
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().code, kUsageCode);
  EXPECT_EQ(typo.error().message, "there is no report 'tpo' (did you mean 'top'?)");
  EXPECT_EQ(read_words({"timeline"}).error().message, "fade has no report 'timeline'");
  EXPECT_FALSE(read_words({"top", "more"}));
  EXPECT_FALSE(read_words({"a.db", "top", "b.db"}));
  EXPECT_FALSE(read_words({"memory_peak"})) << "a variant of memory, not a report of its own";
  EXPECT_FALSE(read_words({"sql", "SELECT", "1"}));
}

}  // namespace
}  // namespace fade::query
