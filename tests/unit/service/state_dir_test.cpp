#include "service/state_dir.hpp"

#include "service/session_record.hpp"
#include "service/worker_options.hpp"
#include "support.hpp"

namespace fade::service {
namespace {

namespace fs = std::filesystem;

class StateDirTest : public testing::Test {
 protected:
  test::Folder folder;
  std::string path = folder.path + "/state";
};

TEST_F(StateDirTest, FilesAreWholeAndPrivate) {
  auto state = StateDir::open(path);
  ASSERT_TRUE(state) << state.error().text();
  ASSERT_TRUE(state->save("a", "first"));
  ASSERT_TRUE(state->save("a", "second"));
  EXPECT_EQ(state->load("a"), "second");
  EXPECT_EQ(state->load("missing"), "");
  EXPECT_EQ(fs::status(path + "/a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(path + "/a.new"));
}

TEST_F(StateDirTest, WhatADyingDaemonLeftHalfWrittenIsReplaced) {
  auto state = StateDir::open(path);
  test::write(path + "/a.new", "half");
  ASSERT_TRUE(state->save("a", "whole"));
  EXPECT_EQ(state->load("a"), "whole");
}

TEST_F(StateDirTest, LinksAreNeitherReadNorWrittenThrough) {
  test::write(folder.path + "/precious", "precious");
  auto state = StateDir::open(path);
  fs::create_symlink(folder.path + "/precious", path + "/a.new");
  fs::create_symlink(folder.path + "/precious", path + "/b");
  ASSERT_TRUE(state->save("a", "x"));
  EXPECT_EQ(state->load("b"), "");
  ASSERT_TRUE(state->save("b", "x"));
  std::ifstream precious(folder.path + "/precious");
  std::string text;
  precious >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(StateDirTest, NumbersAreNeverGivenTwice) {
  auto state = StateDir::open(path);
  EXPECT_EQ(state->next_id(), 1u);
  EXPECT_EQ(state->next_id(), 2u);
  ASSERT_TRUE(state->save(StateDir::session_name(9), "{}"));
  EXPECT_EQ(state->next_id(), 10u);
  state->remove("next_id");
  EXPECT_EQ(state->next_id(), 10u);
  EXPECT_EQ(state->saved_sessions(), std::vector<std::uint64_t>{9});
}

TEST_F(StateDirTest, TheLastWordOfAWorkerIsReadOnce) {
  auto state = StateDir::open(path);
  const auto own = state->recordings_of(::geteuid(), ::getegid());
  ASSERT_TRUE(own) << own.error().text();
  test::write(*own + "/a.db.end", "word");
  test::write(path + "/outside.end", "precious");
  fs::create_symlink(path + "/outside.end", *own + "/b.db.end");
  EXPECT_EQ(state->take_last_word(::geteuid(), "a.db"), "word");
  for (const char* none : {"a.db", "b.db", "../outside", ""})
    EXPECT_EQ(state->take_last_word(::geteuid(), none), "") << none;
  EXPECT_TRUE(fs::exists(path + "/outside.end"));
  test::write(*own + "/c.db.end", "word");
  state->remove_recording(::geteuid(), "c.db");
  EXPECT_FALSE(fs::exists(*own + "/c.db.end"));
}

TEST(SessionRecord, AnEndThatIsToldLaterHasItsOwnTime) {
  SessionRecord record;
  record.state = State::Recording;
  record.since_ns = 1'000;
  ASSERT_TRUE(take_report(record, {{"event", "ended"}, {"at_ns", 2'000}, {"calls", 7}, {"ended", true}}));
  EXPECT_EQ(record.state, State::Ended);
  EXPECT_EQ(record.until_ns, 2'000);
  EXPECT_EQ(record.calls, 7u);
  ASSERT_TRUE(take_report(record, {{"event", "ended"}, {"at_ns", -5}}));  // no time of this session
  EXPECT_GT(record.until_ns, 2'000);
}

TEST_F(StateDirTest, ARecordingGoesWithItsCompanionsAndNothingElse) {
  auto state = StateDir::open(path);
  const auto own = state->recordings_of(::geteuid(), ::getegid());
  ASSERT_TRUE(own) << own.error().text();
  for (const char* name : {"a.db", "a.db-wal", "a.db-shm", "ab.db"}) test::write(*own + "/" + name, "12345");
  test::write(path + "/outside", "x");
  EXPECT_EQ(state->recording_bytes(::geteuid(), "a.db"), 5u);
  for (const char* bad : {"../outside", "", ".", "..", "/etc/passwd"}) {
    EXPECT_FALSE(state->remove_recording(::geteuid(), bad)) << bad;
    EXPECT_EQ(state->recording_bytes(::geteuid(), bad), 0u) << bad;
  }
  EXPECT_TRUE(state->remove_recording(::geteuid(), "a.db"));
  EXPECT_FALSE(state->remove_recording(::geteuid(), "a.db"));
  EXPECT_TRUE(fs::exists(*own + "/ab.db") && fs::exists(path + "/outside") && !fs::exists(*own + "/a.db-wal"));
}

TEST_F(StateDirTest, AUsersFolderThatIsALinkIsNotUsed) {
  auto state = StateDir::open(path);
  fs::create_directory(folder.path + "/elsewhere");
  fs::create_symlink(folder.path + "/elsewhere", path + "/12345");
  EXPECT_FALSE(state->recordings_of(12345, 12345));
  EXPECT_FALSE(state->remove_recording(12345, "a.db"));
}

TEST_F(StateDirTest, AsRootAFolderIsItsUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  auto state = StateDir::open(path);
  ASSERT_TRUE(state->recordings_of(12345, 12346));
  struct stat what {};
  ASSERT_EQ(::stat((path + "/12345").c_str(), &what), 0);
  EXPECT_EQ(what.st_uid, 12345u);
  EXPECT_EQ(what.st_gid, 12346u);
  EXPECT_EQ(what.st_mode & 0777, 0700u);
  ASSERT_EQ(::chown((path + "/12345").c_str(), 54321, 54321), 0);
  EXPECT_FALSE(state->recordings_of(12345, 12346));
}

TEST_F(StateDirTest, IsNotSharedByTwo) {
  const auto first = StateDir::open(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(StateDir::open(path).error().code, EBUSY);
}

TEST(PlainName, IsAFileNameWhateverAProgramCallsItself) {
  EXPECT_EQ(plain_name("/usr/bin/python3.11"), "python3.11");
  EXPECT_EQ(plain_name("..x y\n%p'"), "_.x_y__p_");
  EXPECT_EQ(plain_name("-rf"), "_rf");
  EXPECT_EQ(plain_name(""), "_");
  EXPECT_LE(plain_name(std::string(500, 'a')).size(), 40u);
}

TEST(SessionRecord, ComesBackAsItWasSaved) {
  SessionRecord record;
  record.id = 3;
  record.uid = 1000;
  record.state = State::Paused;
  record.pid = 42;
  record.start_ticks = 99;
  record.program = "x";
  record.folder = "/a";
  record.database = "b.db";
  record.worker = 43;
  record.worker_start_ticks = 100;
  record.calls = 1'000'000'000'000;
  record.notes = {"one", "two"};
  const auto again = record_from(to_json(record));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(record));
}

TEST(SessionRecord, ADamagedOneIsNone) {
  for (const char* text : {"{}", R"({"id":1})", R"({"id":1,"uid":0,"state":"dancing"})",
                           R"({"id":0,"uid":0,"state":"ended"})", R"({"id":"1","uid":0,"state":"ended"})"})
    EXPECT_FALSE(record_from(*ipc::parse_object(text))) << text;
}

TEST(SessionRecord, FollowsWhatTheWorkerReports) {
  SessionRecord record;
  const auto report = [&](const char* text) { return take_report(record, *ipc::parse_object(text)); };
  EXPECT_TRUE(report(
      R"({"event":"attached","program":"/bin/x","holds":{"threads":3,"median_ns":5,"worst_ns":9},"notes":["n"]})"));
  EXPECT_EQ(record.state, State::Recording);
  EXPECT_EQ(record.program, "x");
  EXPECT_EQ(record.threads, 3u);
  EXPECT_TRUE(report(R"({"event":"tick","elapsed_ns":1000000000,"calls":100,"errors":1})"));
  EXPECT_TRUE(report(R"({"event":"tick","elapsed_ns":3000000000,"calls":500,"errors":1})"));
  EXPECT_EQ(record.calls_per_second, 200u);
  EXPECT_FALSE(report(R"({"event":"song"})"));
  EXPECT_FALSE(report(R"({"event":5})"));
  EXPECT_TRUE(report(R"({"event":"tick","calls":"many"})"));
  EXPECT_EQ(record.calls, 500u);
  EXPECT_EQ(record.until_ns, 0);
  EXPECT_TRUE(report(R"({"event":"ended","ended":false,"calls":600,"bytes_differing":4})"));
  EXPECT_EQ(record.state, State::Ended);
  EXPECT_EQ(record.calls, 600u);
  EXPECT_GT(record.until_ns, record.since_ns) << "with the state, though the worker is still there";
  EXPECT_NE(record.ending.find("4 bytes"), std::string::npos);
}

TEST(WorkerOptions, BecomeWordsThatCannotBeTakenForOthers) {
  const auto words = worker_words({{"events", {"mem", "-sync"}},
                                   {"set", {"--output=/etc/passwd"}},
                                   {"duration_ns", 5},
                                   {"follow", false},
                                   {"inject", {"hipMalloc:error=2"}},
                                   {"seed", 7},
                                   {"tree", true},
                                   {"max_size", 7}});
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, (std::vector<std::string>{"--duration=5ns", "--events=mem", "--events=-sync", "--no-follow",
                                              "--inject=hipMalloc:error=2", "--max-size=7", "--seed=7",
                                              "--set=--output=/etc/passwd", "--tree"}));
}

TEST(WorkerOptions, WhatNamesAFileOrIsUnknownIsRefused) {
  for (const char* text : {R"({"output":"/x"})", R"({"log":"/x"})", R"({"probe_files":["/x"]})", R"({"control":"5"})",
                           R"({"set":"x"})", R"({"duration_ns":-1})", R"({"tree":1})", "{\"set\":[\"a\\u0000b\"]}"})
    EXPECT_EQ(worker_words(*ipc::parse_object(text)).error().code, EINVAL) << text;
  EXPECT_FALSE(worker_words({{"set", {std::string(100'000, 'x')}}}));
  EXPECT_FALSE(worker_words(ipc::Json::array()));
}

}  // namespace
}  // namespace fade::service
