// Full disks, size limits, killed writers, readers at the same time.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>

#include "base/log.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Trouble : public Recording {
 protected:
  void TearDown() override { log::set_level(log::Level::Info); }

  // Calls are put in until the file says what is waited for.
  template <class Done>
  int call_until(Done done) {
    int calls = 0;
    while (!done()) {
      for (int i = 0; i < 20'000; ++i) tracee->call("hipDeviceSynchronize");
      calls += 20'000;
      if (calls > 20'000'000) {
        ADD_FAILURE() << "it never came";
        break;
      }
    }
    return calls;
  }
  bool limit_reached() { return std::filesystem::file_size(path) > 0 && value("SELECT count(*) FROM drops") != "0"; }
  // Every call that was made is stored, or counted as not stored: in the totals, and in the file where it could be
  // written.
  void expect_exact(std::uint64_t made, const Totals& totals) {
    EXPECT_EQ(totals.calls + totals.dropped, made);
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);  // takes in a log that was left
    EXPECT_EQ(*db->integer("SELECT count(*) FROM call_") + *db->integer("SELECT sum(n) FROM drop_"),
              static_cast<std::int64_t>(made));
  }
  // Of another program, which waits where it has to.
  sqlite::Db another_connection() {
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
    if (db) sqlite3_busy_timeout(db->get(), 60'000);
    return std::move(*db);
  }
  // From now on no row of a call with that number can be inserted.
  void refuse_call(int number) {
    ASSERT_TRUE(another_connection().exec("CREATE TRIGGER refuse AFTER INSERT ON call_ WHEN new.id = " +
                                          std::to_string(number) + " BEGIN SELECT raise(FAIL, 'refused'); END"));
  }
  void wait_until_stored(std::int64_t calls) {
    while (seen_by_reader("SELECT count(*) FROM call_") < calls) std::this_thread::yield();
  }
  // While the file is made or locked there is nothing to see.
  std::int64_t seen_by_reader(const char* sql) {
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READONLY);
    return db ? db->integer(sql).value_or(0) : 0;
  }
  static int run_in_child(const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(Trouble, SizeLimitKeepsCountingByDefault) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 << 20});
  const int calls = call_until([&] { return limit_reached(); });
  tracee->fail("hipSetDevice", 101);
  const Totals totals = finish();
  const int stored = std::stoi(value("SELECT count(*) FROM call_"));
  EXPECT_LT(stored, calls);
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), std::to_string(calls + 1));
  EXPECT_EQ(value("SELECT n FROM drops"), std::to_string(calls + 1 - stored));
  EXPECT_THAT(value("SELECT reason FROM drops"), HasSubstr("size limit"));
  EXPECT_EQ(value("SELECT count(*) FROM errors"), "1");
  EXPECT_EQ(totals.dropped, 0u) << "nothing is unknown";
  EXPECT_EQ(value("SELECT clean FROM sessions"), "1");
}

// The program may have ended when the writer comes to its calls.
TEST_F(Trouble, WhatASizeLimitLeavesOutBeginsBehindTheLastCallThatWasKept) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 << 20, .on_full = OnFull::Stop});
  while (!limit_reached())
    for (int i = 0; i < 1000; ++i) {
      CallRecord call = tracee->begin("hipFree", {0});
      call.entry_ns = 1000;  // long ago
      call.exit_ns = 2000;
      tracee->put(call);
    }
  finish();
  EXPECT_EQ(value("SELECT start FROM drops"), "2000");
}

TEST_F(Trouble, SizeLimitMayStopEverything) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 << 20, .on_full = OnFull::Stop});
  const int calls = call_until([&] { return limit_reached(); });
  const Totals totals = finish();
  const int stored = std::stoi(value("SELECT count(*) FROM call_"));
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), std::to_string(stored));
  EXPECT_EQ(totals.dropped, static_cast<std::uint64_t>(calls - stored));
  EXPECT_EQ(value("SELECT n FROM drops"), std::to_string(calls - stored));
}

TEST_F(Trouble, SizeLimitMayDropCallsAndKeepAllocations) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 << 20, .on_full = OnFull::DropCalls});
  call_until([&] { return limit_reached(); });
  tracee->malloc(0x1000, 10);
  finish();
  EXPECT_EQ(value("SELECT size FROM allocations"), "10");
  EXPECT_EQ(value("SELECT count(*) FROM calls WHERE name = 'hipMalloc'"), "0");
}

TEST_F(Trouble, FullDiskIsToldOnceAndTheProgramRunsOn) {
  const int status = run_in_child([&] {
    log::set_level(log::Level::Info);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4 << 20, 4 << 20};  // EFBIG where a full disk would say ENOSPC
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const int messages = ::open(directory.file("messages").c_str(), O_CREAT | O_WRONLY, 0600);
    ::dup2(messages, STDERR_FILENO);
    open();
    tracee->fail("hipSetDevice", 101);  // stored at once
    while (seen_by_reader("SELECT count(*) FROM call_") == 0) std::this_thread::yield();
    constexpr int kCalls = 1'000'000;
    for (int i = 0; i < kCalls; ++i) tracee->call("hipDeviceSynchronize");
    const Totals totals = writer->finish();
    writer.reset();
    EXPECT_GT(totals.dropped, 0u);
  });
  EXPECT_EQ(status, 0);
  std::ifstream in(directory.file("messages"));
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  EXPECT_THAT(first, testing::AllOf(HasSubstr("cannot write"), HasSubstr("the program runs on")));
  EXPECT_EQ(second, "");
  auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);  // recovers what the log holds
  EXPECT_EQ(*db->text("PRAGMA integrity_check"), "ok");
  EXPECT_GT(*db->integer("SELECT count(*) FROM calls"), 0);
  EXPECT_EQ(*db->integer("SELECT clean FROM sessions"), 0);
}

// SQLite gives the kernel's error if a statement writes, and none if a commit does.
TEST_F(Trouble, AFileThatMayNotGrowIsToldWithItsLimit) {
  const int status = run_in_child([&] {
    auto db = sqlite::Db::open(directory.file("grows.db"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(db->exec("CREATE TABLE t(x)"));
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (const char* bytes : {"1000000", "20000000"}) {  // what the page cache holds until the commit, and more
      const auto grown = db->exec("INSERT INTO t VALUES (zeroblob(" + std::string(bytes) + "))");
      ASSERT_FALSE(grown);
      EXPECT_THAT(grown.error().cause, HasSubstr("(a file may have 65536 bytes here: ulimit -f)")) << bytes;
    }
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Trouble, AFullDiskLeavesNoCallUncounted) {
  const int status = run_in_child([&] {
    log::set_level(log::Level::Silent);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4 << 20, 4 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    open();
    tracee->fail("hipSetDevice", 101);  // stored at once, before the disk is full
    wait_until_stored(1);
    constexpr int kCalls = 1'000'000;
    for (int i = 0; i < kCalls; ++i) tracee->call("hipDeviceSynchronize");
    const Totals totals = writer->finish();
    writer.reset();
    EXPECT_EQ(totals.calls + totals.dropped, std::uint64_t{kCalls + 1});
    const std::int64_t stored = seen_by_reader("SELECT count(*) FROM call_");
    EXPECT_GT(stored, 0);
    EXPECT_EQ(totals.calls, static_cast<std::uint64_t>(stored));
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Trouble, AStatementThatFailsHalfWayThroughABatchLeavesNoCallUncounted) {
  log::set_level(log::Level::Silent);
  open();
  tracee->fail("hipSetDevice", 101);  // stored at once
  wait_until_stored(1);
  refuse_call(150);
  for (int i = 0; i < 300; ++i) tracee->call("hipDeviceSynchronize");
  const Totals totals = finish();
  EXPECT_EQ(totals.calls, 1u);
  expect_exact(301, totals);
  EXPECT_EQ(value("SELECT clean FROM session_"), "0");
}

TEST_F(Trouble, AnEndThatCannotBeStoredLeavesNoCallUncounted) {
  const int status = run_in_child([&] {
    log::set_level(log::Level::Silent);
    open();
    tracee->fail("hipSetDevice", 101);  // stored at once
    wait_until_stored(1);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 10; ++i) tracee->call("hipDeviceSynchronize");
    const Totals totals = writer->finish();
    writer.reset();
    EXPECT_EQ(totals.calls, 1u);
    EXPECT_EQ(totals.dropped, 10u);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Trouble, TheSizeLimitAndThenAFailureLeaveNoCallUncounted) {
  log::set_level(log::Level::Silent);
  open({.max_bytes = 3 << 20});
  const int before = call_until([&] { return limit_reached(); });
  ASSERT_TRUE(another_connection().exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON error_ BEGIN SELECT raise(FAIL, 'refused'); END"));
  for (int i = 0; i < 1000; ++i) tracee->call("hipDeviceSynchronize");
  tracee->fail("hipSetDevice", 101);
  expect_exact(static_cast<std::uint64_t>(before) + 1001, finish());
}

TEST_F(Trouble, CallsOfAnUnknownFunctionAreARow) {
  open();
  CallRecord record = tracee->begin("hipDeviceSynchronize");
  record.function = 77;
  tracee->put(record);
  tracee->call("hipDeviceSynchronize");
  expect_exact(2, finish());
  EXPECT_THAT(rows("SELECT n, reason FROM drops"), ElementsAre("1|nothing is known of their function or thread"));
}

// Another process that has the database locked, until it is told to let go. A connection of our own is as good.
class Locked : public Trouble {
 protected:
  static constexpr EventQueue::Limits kSmall{.calls = 50, .payload_bytes = 1 << 20, .notices = 1000};

  void SetUp() override {
    log::set_level(log::Level::Silent);
    open({}, kSmall);
    tracee->fail("hipSetDevice", 101);  // stored at once
    wait_until_stored(1);
    other = another_connection();
    ASSERT_TRUE(other.exec("BEGIN IMMEDIATE"));
  }
  void let_go() { ASSERT_TRUE(other.exec("ROLLBACK")); }
  void call(int times) {
    for (int i = 0; i < times; ++i) tracee->call("hipDeviceSynchronize");
    made += static_cast<std::uint64_t>(times);
  }
  // More than memory holds.
  void call_until_refused() {
    while (queue->refused() == 0) call(100);
  }

  sqlite::Db other;
  std::uint64_t made = 1;
};

TEST_F(Locked, CallsThatFindRoomAreKept) {
  call(150);
  let_go();
  const Totals totals = finish();
  EXPECT_EQ(totals.dropped, 0u);
  EXPECT_EQ(totals.calls, made);
  EXPECT_EQ(value("SELECT count(*) FROM call_"), "151");
  EXPECT_EQ(value("SELECT count(*) FROM drop_"), "0");
}

TEST_F(Locked, TheRecordingGoesOnAfterwards) {
  call_until_refused();
  let_go();
  wait_until_stored(2);
  call(1000);
  const Totals totals = finish();
  EXPECT_GT(totals.dropped, 0u);
  EXPECT_GT(totals.calls, 1000u);
  expect_exact(made, totals);
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), std::to_string(totals.calls));
  EXPECT_EQ(value("SELECT clean FROM session_"), "1");
  EXPECT_EQ(value("SELECT n FROM drops WHERE reason = 'another process had the database locked' AND duration > 0"),
            std::to_string(totals.dropped));
  EXPECT_EQ(value("SELECT value FROM lifecycle WHERE kind = 'locked'"), std::to_string(totals.dropped));
}

TEST_F(Locked, OnceMoreAndAgain) {
  for (int round = 0; round < 2; ++round) {
    call_until_refused();
    const std::int64_t stored = seen_by_reader("SELECT count(*) FROM call_");
    let_go();
    wait_until_stored(stored + 1);
    ASSERT_TRUE(other.exec("BEGIN IMMEDIATE"));
  }
  let_go();
  expect_exact(made, finish());
  EXPECT_EQ(value("SELECT count(*) FROM drops"), "2");
}

TEST_F(Locked, UntilTheRecordingHasEnded) {
  call_until_refused();
  const Totals totals = finish();
  EXPECT_EQ(totals.calls, 1u);
  EXPECT_EQ(totals.dropped, made - 1);
  EXPECT_EQ(value("SELECT count(*) FROM call_"), "1");
  EXPECT_EQ(value("SELECT clean FROM session_"), "0");
}

TEST_F(Locked, AndThenAFailureLeavesNoCallUncounted) {
  call_until_refused();
  ASSERT_TRUE(
      other.exec("CREATE TRIGGER refuse BEFORE INSERT ON drop_ WHEN new.reason GLOB 'another*' BEGIN SELECT "
                 "raise(FAIL, 'refused'); END; COMMIT"));
  const Totals totals = finish();
  EXPECT_EQ(totals.calls, 1u);
  expect_exact(made, totals);
}

TEST_F(Trouble, AReaderThatStaysDoesNotTakeTheTotalsAway) {
  log::set_level(log::Level::Silent);
  open();
  tracee->fail("hipSetDevice", 101);  // stored at once
  wait_until_stored(1);
  auto reader = sqlite::Db::open(path, SQLITE_OPEN_READONLY);
  EXPECT_EQ(*reader->integer("SELECT count(*) FROM call_"), 1);
  tracee->call("hipDeviceSynchronize");
  const Totals totals = finish();
  EXPECT_EQ(totals.calls, 2u);
  EXPECT_EQ(*reader->integer("SELECT count(*) FROM call_"), 2);
  EXPECT_EQ(*reader->integer("SELECT clean FROM session_"), 1);
}

TEST_F(Trouble, KilledWriterLosesNothingThatAReaderHasSeen) {
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(path);
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path + suffix);
    const pid_t child = ::fork();
    if (child == 0) {
      open();
      for (;;) tracee->call("hipDeviceSynchronize");
    }
    std::int64_t acknowledged = 0;
    while (acknowledged < 10'000 * (round + 1))
      acknowledged = std::max(acknowledged, seen_by_reader("SELECT count(*) FROM call_"));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
    EXPECT_EQ(*db->text("PRAGMA integrity_check"), "ok");
    EXPECT_GE(*db->integer("SELECT count(*) FROM call_"), acknowledged);
    EXPECT_EQ(*db->integer("SELECT max(id) - count(*) FROM call_"), 0) << "no hole";
    EXPECT_EQ(*db->integer("SELECT clean FROM session_"), 0);
  }
}

TEST_F(Trouble, AfterAKillTheFileCanBeAddedTo) {
  const pid_t child = ::fork();
  if (child == 0) {
    open();
    tracee->fail("hipSetDevice", 101);  // stored at once
    for (;;) ::pause();
  }
  while (seen_by_reader("SELECT count(*) FROM error_") == 0) std::this_thread::yield();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  open({.open_mode = OpenMode::Append});
  tracee->call("hipDeviceSynchronize");
  finish();
  EXPECT_THAT(rows("SELECT session, name FROM calls"), ElementsAre("1|hipSetDevice", "2|hipDeviceSynchronize"));
  EXPECT_THAT(rows("SELECT clean FROM sessions"), ElementsAre("0", "1"));
}

TEST_F(Trouble, ReadersSeeWholeBatchesWhileItIsWritten) {
  open();
  std::thread reader([&] {
    std::int64_t last = 0;
    while (last < 30'000) {
      auto db = sqlite::Db::open(path, SQLITE_OPEN_READONLY);
      const std::int64_t now = db ? db->integer("SELECT count(*) FROM call_").value_or(-1) : -1;
      EXPECT_GE(now, last);
      last = std::max(last, now);
    }
  });
  for (int i = 0; i < 60'000; ++i) tracee->call("hipDeviceSynchronize");
  reader.join();
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "60000");
  EXPECT_EQ(value("PRAGMA journal_mode"), "delete");
}

}  // namespace
}  // namespace fade::store
