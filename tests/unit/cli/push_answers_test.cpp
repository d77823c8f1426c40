// Answers of a ClickHouse server by kind, addresses, and where user and password come from.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "cli/push/address.hpp"
#include "cli/push/http.hpp"
#include "cli/push/refusals.hpp"
#include "cli/query/server_access.hpp"
#include "cli/query_seed.hpp"

namespace fade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  long status;
  const char* body;
  int code;
  const char* cause;
  const char* fix;
};

class Refusals : public ::testing::TestWithParam<Case> {};

TEST_P(Refusals, SayCauseAndFixAndIfALaterAttemptMaySucceed) {
  const Case& one = GetParam();
  const Error error = push::refusal("http://host:8123/", one.status, one.body);
  EXPECT_EQ(error.message, "cannot use http://host:8123/");
  EXPECT_THAT(error.cause, HasSubstr(one.cause));
  EXPECT_THAT(error.fix, HasSubstr(one.fix));
  EXPECT_EQ(error.code, one.code);
}

INSTANTIATE_TEST_SUITE_P(
    , Refusals,
    ::testing::Values(
        // The two forms of an error: of 18.16 and of current servers.
        Case{500, "Code: 193, e.displayText() = DB::Exception: Wrong password for user fade, e.what() = DB::Exception",
             0, "refuses the user or the password", "--password-file"},
        Case{403, "Code: 516. DB::Exception: fade: Authentication failed. (AUTHENTICATION_FAILED)", 0,
             "refuses the user or the password", "CLICKHOUSE_PASSWORD"},
        Case{500, "Code: 60. DB::Exception: Table fade.fade_schema does not exist.", push::kNotInitialised,
             "has no tables of fade", "--init"},
        Case{500, "Code: 81, e.displayText() = DB::Exception: Database fade doesn't exist", push::kNotInitialised,
             "has no tables of fade", "--init"},
        Case{500, "Code: 497. DB::Exception: fade: Not enough privileges.", 0, "may not do this", "GRANT"},
        Case{500, "Code: 241. DB::Exception: Memory limit (total) exceeded", push::kUnreachable, "lacks memory",
             "later"},
        Case{500, "Code: 252. DB::Exception: Too many parts (300).", push::kUnreachable, "merges more slowly",
             "--every"},
        Case{500, "Code: 216. DB::Exception: Query with id = x is already running.", push::kUnreachable,
             "an earlier request still runs", "later"},
        Case{500, "Code: 209, e.displayText() = DB::NetException: Timeout: connect timed out: shard-2:9000",
             push::kUnreachable, "connect timed out: shard-2:9000", "later"},
        // A full disk has several codes, and its own words count.
        Case{500, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space", 0,
             "disk of the server is full", "free space"},
        Case{500, "Code: 1000, e.displayText() = DB::Exception: write: No space left on device", 0,
             "disk of the server is full", "free space"},
        // Codes without a row: the server's own words.
        Case{400, "Code: 62. DB::Exception: Syntax error: failed at position 8.\nsecond line", 0,
             "Syntax error: failed at position 8. (code 62)", ""},
        // No ClickHouse: a gateway that is restarted, and another program.
        Case{502, "<html>Bad Gateway</html>", push::kUnreachable, "status 502", ""},
        Case{404, "", 0, "not the HTTP port of a ClickHouse server (status 404", "8123"},
        Case{200, "", 0, "not the HTTP port of a ClickHouse server", "8443"}));

TEST(Refusal, OfLongOrHostileWordsIsOneLineOfText) {
  const Error error = push::refusal("x", 500, "Code: 7. DB::Exception: a\x1b[31mb\tc" + std::string(5000, 'z'));
  EXPECT_LT(error.cause.size(), 400u);
  EXPECT_THAT(error.cause, AllOf(HasSubstr("a [31mb c"), Not(HasSubstr("\x1b"))));
}

TEST(Address, HasADatabaseAndIsTheSameWhenItIsReadAgain) {
  const auto plain = push::read_address("https://host:8443");
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_EQ(plain->database, "fade");
  EXPECT_TRUE(plain->is_encrypted);
  EXPECT_FALSE(plain->is_loopback);
  const auto other = push::read_address("http://127.0.0.1:8123/proxy/?database=team_1#part");
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_EQ(other->url, "http://127.0.0.1:8123/proxy/");
  EXPECT_EQ(other->database, "team_1");
  EXPECT_TRUE(other->is_loopback);
  for (const auto& address : {*plain, *other}) {
    const auto again = push::read_address(address.text());
    ASSERT_TRUE(again) << address.text();
    EXPECT_EQ(again->url, address.url);
    EXPECT_EQ(again->database, address.database);
  }
}

TEST(Address, IsRefusedWithAReason) {
  const std::pair<const char*, const char*> wrong[] = {
      {"ftp://host/", "no http:// or https://"},
      {"http://ada:secret@host:8123", "command lines"},
      {"http://host:8123/?database=a;DROP", "letters, digits and _"},
      {"http://host:8123/?database=", "letters, digits and _"},
      {"http://host:8123/?user=ada", "only database=NAME"},
  };
  for (const auto& [text, cause] : wrong) {
    const auto read = push::read_address(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().text(), AllOf(HasSubstr(cause), Not(HasSubstr("secret"))));
  }
}

class Access : public ::testing::Test {
 protected:
  Access() {
    ::setenv("CLICKHOUSE_USER", "of_environment", 1);
    ::setenv("CLICKHOUSE_PASSWORD", "environment's", 1);
  }
  ~Access() override {
    ::unsetenv("CLICKHOUSE_USER");
    ::unsetenv("CLICKHOUSE_PASSWORD");
  }
  Result<push::Access> read(const std::string& content) {
    settings_.password_file = directory_.file("password");
    std::ofstream(settings_.password_file, std::ios::binary) << content;
    return query::read_server_access(settings_);
  }
  query::Settings settings_;
  query::TemporaryDirectory directory_;
};

TEST_F(Access, IsThatOfTheEnvironmentWhereNoOptionSaysMore) {
  const auto access = query::read_server_access(settings_);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->user, "of_environment");
  EXPECT_EQ(access->password, "environment's");
  settings_.user = "ada";
  settings_.ca_file = "ca.pem";
  const auto named = read("file's\n");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->user, "ada");
  EXPECT_EQ(named->password, "file's");
  EXPECT_EQ(named->ca_file, "ca.pem");
}

TEST_F(Access, TakesTheFirstLineOfAFileAsItStands) {
  EXPECT_EQ(read("two words \nsecond\n")->password, "two words ");
  EXPECT_EQ(read("windows\r\n")->password, "windows");
  EXPECT_EQ(read("no end of line")->password, "no end of line");
  EXPECT_EQ(read("\n")->password, "");
}

TEST_F(Access, OfAFileWithoutALineIsAnError) {
  EXPECT_FALSE(read(""));
  settings_.password_file = directory_.file("none");
  const auto access = query::read_server_access(settings_);
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().text(), HasSubstr("cannot read the password in " + settings_.password_file));
}

}  // namespace
}  // namespace fade
