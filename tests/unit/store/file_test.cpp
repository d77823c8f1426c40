// Which files are created, taken over, added to and refused; and that every end leaves one plain file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "schema/schema.hpp"
#include "store/database_file.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class File : public Recording {
 protected:
  void record_one(WriterOptions options = {}) {
    open(options);
    tracee->call("hipDeviceSynchronize");
    finish();
  }
  Error refused(OpenMode mode) {
    EventQueue other;
    const auto opened = Writer::open({.path = path, .open_mode = mode}, {}, other);
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
  }
  void write(const std::string& text) { std::ofstream(path) << text; }
  std::string read() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(File, IsOnePlainFileForItsOwnerAtTheEnd) {
  record_one();
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("r.db"));
  EXPECT_EQ(value("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(value("PRAGMA integrity_check"), "ok");
  EXPECT_THAT(rows("SELECT kind, cwd, command, options, detail, clean, end_ns > start_ns, host <> '' FROM sessions"),
              ElementsAre("run|/home|prog|-o x|calls|1|1|1"));
}

TEST_F(File, HasNoSecretsOfTheCommandLine) {
  EventQueue other;
  auto opened = Writer::open({.path = path},
                             {.kind = "run", .command = {"prog", "--api-key=hush", "https://me:hush@host/"}}, other);
  ASSERT_TRUE(opened);
  (*opened)->start();
  (*opened)->finish();
  EXPECT_EQ(value("SELECT command FROM sessions"), "prog --api-key=<redacted> https://me:<redacted>@host/");
}

TEST_F(File, HasTheSchemaThatSqliteMakesOfItsStatements) {
  record_one();
  auto made = sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(made && made->exec(schema::tables()) && made->exec(schema::views()));
  for (const std::string type : {"table", "view"}) {
    const std::string all =
        "SELECT json_group_array(json_array(type, name, tbl_name, sql)) FROM (SELECT * FROM sqlite_master WHERE type = "
        "'" +
        type + "' ORDER BY name)";
    EXPECT_EQ(value(all), made->text(all).value_or("?"));
  }
  EXPECT_EQ(value("SELECT count(*) FROM sqlite_master WHERE type = 'view' AND rootpage <> 0"), "0");
}

TEST_F(File, ThatExistsIsRefused) {
  record_one();
  const Error error = refused(OpenMode::Create);
  EXPECT_THAT(error.message, HasSubstr("exists"));
  EXPECT_THAT(error.fix, testing::AllOf(HasSubstr("--force"), HasSubstr("--append")));
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "1");
}

TEST_F(File, OfOursIsOverwrittenWhenAskedTo) {
  record_one();
  record_one({.open_mode = OpenMode::Overwrite});
  EXPECT_EQ(value("SELECT count(*) FROM sessions"), "1");
}

TEST_F(File, ThatIsEmptyIsTaken) {
  write("");
  record_one({.open_mode = OpenMode::Overwrite});
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "1");
}

TEST_F(File, OfSomeoneElseIsNeverTouched) {
  write("my thesis");
  for (const OpenMode mode : {OpenMode::Create, OpenMode::Overwrite, OpenMode::Append}) {
    const Error error = refused(mode);
    EXPECT_FALSE(error.fix.empty());
    EXPECT_EQ(read(), "my thesis");
  }
  EXPECT_THAT(refused(OpenMode::Overwrite).cause, HasSubstr("not a fade database"));
}

TEST_F(File, OfAnotherProgramsSqliteIsNeverTouched) {
  {
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(db->exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)"));
  }
  EXPECT_THAT(refused(OpenMode::Overwrite).cause, HasSubstr("not a fade database"));
  EXPECT_THAT(refused(OpenMode::Append).cause, HasSubstr("not a fade database"));
  EXPECT_EQ(value("SELECT a FROM t"), "1");
}

TEST_F(File, OfANewerFadeIsNotAddedTo) {
  record_one();
  {
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(db->exec("PRAGMA user_version = 99"));
  }
  const Error error = refused(OpenMode::Append);
  EXPECT_THAT(error.cause, HasSubstr("newer fade"));
  EXPECT_THAT(error.fix, HasSubstr("update fade"));
}

TEST_F(File, OfAnOlderFadeIsNotAddedToButOverwritten) {
  record_one();
  {
    auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(db->exec("PRAGMA user_version = 1"));
  }
  EXPECT_THAT(refused(OpenMode::Append).cause, HasSubstr("older fade"));
  record_one({.open_mode = OpenMode::Overwrite});
  EXPECT_EQ(value("PRAGMA user_version"), std::to_string(schema::kVersion));
}

TEST_F(File, BehindASymbolicLinkIsRefused) {
  const std::string target = directory.file("target");
  std::ofstream(target) << "";
  ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0);
  EXPECT_THAT(refused(OpenMode::Create).message, HasSubstr("exists"));
  EXPECT_THAT(refused(OpenMode::Overwrite).cause, HasSubstr("symbolic link"));
  EXPECT_THAT(refused(OpenMode::Append).cause, HasSubstr("symbolic link"));
}

TEST_F(File, BesideALogOfAnotherUserIsRefused) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const std::string planted = path + suffix;
    std::ofstream(planted) << "planted";
    if (::chown(planted.c_str(), 65'534, 65'534) != 0) GTEST_SKIP() << "needs root";
    for (const OpenMode mode : {OpenMode::Create, OpenMode::Overwrite, OpenMode::Append})
      EXPECT_THAT(refused(mode).cause, HasSubstr(planted + " is of another user"));
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(std::filesystem::remove(planted)) << "it was taken away";
  }
}

TEST_F(File, OfAnotherUserInASharedFolderIsNotAddedTo) {
  record_one();
  if (::chown(path.c_str(), 65'534, 65'534) != 0) GTEST_SKIP() << "needs root";
  ::chmod(path.c_str(), 0666);
  ::chmod(directory.path().c_str(), 01777);
  EXPECT_THAT(refused(OpenMode::Append).cause, HasSubstr("file of another user"));
}

TEST_F(File, InAPlaceThatCannotBeWrittenSaysSo) {
  for (const auto& [where, fix] : {std::pair{"/proc/x.db", "--output"}, {"/no such directory/x.db", "mkdir -p"}}) {
    EventQueue other;
    const auto opened = Writer::open({.path = where}, {}, other);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr(where));
    EXPECT_FALSE(opened.error().cause.empty());
    EXPECT_THAT(opened.error().fix, HasSubstr(fix));
  }
  std::filesystem::create_directory(path);
  EXPECT_FALSE(refused(OpenMode::Overwrite).cause.empty());
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

TEST_F(File, ThatIsBeingRecordedIntoIsRefused) {
  open();
  EXPECT_THAT(refused(OpenMode::Append).cause, HasSubstr("another fade"));
  EXPECT_THAT(refused(OpenMode::Overwrite).cause, HasSubstr("another fade"));
  finish();
}

TEST_F(File, AppendedToHoldsBothSessions) {
  for (int session = 0; session < 3; ++session) {
    open({.open_mode = session == 0 ? OpenMode::Create : OpenMode::Append,
          .detail = session == 1 ? Detail::Stats : Detail::Calls});
    tracee->notice(KernelNamed{1, 0x500, "k", ""});
    tracee->notice(CallSiteSeen{1, 1, 0x1000, "/lib/a.so", 16, ""});
    CallRecord outer = tracee->begin("hipMemcpy");
    CallRecord inner = tracee->begin("hipDeviceSynchronize");
    outer.caller = 1;
    inner.parent = outer.id;
    tracee->put(inner);
    tracee->put(outer);
    tracee->malloc(0x1000, 5);
    tracee->launch(0x500);
    tracee->fail("hipSetDevice", 101);
    finish();
  }
  EXPECT_THAT(rows("SELECT session, count(*), count(parent_id) FROM calls GROUP BY 1"), ElementsAre("1|5|1", "3|5|1"));
  EXPECT_THAT(rows("SELECT session, calls FROM top WHERE name = 'hipMemcpy' ORDER BY session"),
              ElementsAre("1|1", "2|1", "3|1"));
  EXPECT_THAT(rows("SELECT session, name FROM launches"), ElementsAre("1|k", "3|k"));
  EXPECT_THAT(rows("SELECT session, live_at_end FROM memory_stats"), ElementsAre("1|5", "2|5", "3|5"));
  EXPECT_EQ(value("SELECT count(DISTINCT call_id) FROM errors"), "3")
      << "ids of a session that stored no rows are not used again";
  EXPECT_EQ(value("SELECT count(*) FROM calls WHERE caller = '/lib/a.so+0x10'"), "2");
  EXPECT_EQ(value("PRAGMA integrity_check"), "ok");
}

TEST(NetworkFileSystems, AreKnownByTheirNumber) {
  EXPECT_TRUE(is_network_file_system(0x6969));
  EXPECT_TRUE(is_network_file_system(0x01021997));
  EXPECT_TRUE(is_network_file_system(static_cast<long>(0xFF534D42)));
  EXPECT_TRUE(is_network_file_system(static_cast<int>(0xFF534D42))) << "statfs may sign-extend";
  EXPECT_FALSE(is_network_file_system(0xEF53)) << "ext4";
  EXPECT_FALSE(is_network_file_system(0x01021994)) << "tmpfs";
}

}  // namespace
}  // namespace fade::store
