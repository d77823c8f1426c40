#include "cli/push/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/push/http.hpp"

namespace fade::push {
namespace {

struct Refusal {
  int code;
  const char* cause;  // nullptr: the server's own words
  const char* fix;
  int error_code;  // of the Error
};
constexpr const char* kWrongPassword = "the server refuses the user or the password";
constexpr const char* kCredentials =
    "export CLICKHOUSE_USER=... CLICKHOUSE_PASSWORD=...; or --user NAME --password-file FILE";
constexpr const char* kDiskFull = "the disk of the server is full";
constexpr const char* kFreeSpace = "free space there (fade-query push --help-all: partitions), then send again";
constexpr const char* kNoTables = "the server has no tables of fade in this database";
constexpr const char* kInit = "fade-query push URL --init      makes them";

// https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
constexpr Refusal kRefusals[] = {
    {193, kWrongPassword, kCredentials, 0},
    {192, kWrongPassword, kCredentials, 0},
    {194, kWrongPassword, kCredentials, 0},
    {195, "the server does not let this user in from this address", "ask its administrator: <networks> of the user", 0},
    {516, kWrongPassword, kCredentials, 0},
    {497, "the user may not do this", "GRANT SELECT, INSERT ON fade.* TO the user; for --init also CREATE", 0},
    {164, "the user may only read", "use a user that may INSERT", 0},
    {60, kNoTables, kInit, kNotInitialised},
    {81, kNoTables, kInit, kNotInitialised},
    {243, kDiskFull, kFreeSpace, 0},
    {241, "the server lacks memory for this now", "send again later", kUnreachable},
    {252, "the server merges more slowly than rows come", "send again later, or push more rarely (--every 5m)",
     kUnreachable},
    {202, "the server has too many queries", "send again later", kUnreachable},
    {209, nullptr, "send again later", kUnreachable},
    {210, nullptr, "send again later", kUnreachable},
    {216, "an earlier request still runs", "send again later", kUnreachable},
    {242, "the table is read-only now: its replica has lost ZooKeeper", "send again later", kUnreachable},
    {279, "no shard of the cluster can be reached", "check <remote_servers> of the server", kUnreachable},
    {319, nullptr, "send again later", kUnreachable},
    {394, nullptr, "send again later", kUnreachable},
};

// "Code: 193, e.displayText() = DB::Exception: ..." or "Code: 516. DB::Exception: ...". 0: none.
int code_of(std::string_view body) {
  constexpr std::string_view kCode = "Code: ";
  const std::size_t at = body.find(kCode);
  int out = 0;
  if (at != body.npos) std::from_chars(body.data() + at + kCode.size(), body.data() + body.size(), out);
  return out;
}

// One line without the parts that repeat the code.
std::string words_of(std::string_view body) {
  constexpr std::size_t kMost = 300;
  constexpr std::string_view kException = "DB::Exception: ";
  const std::size_t at = body.find(kException);
  if (at != body.npos) body.remove_prefix(at + kException.size());
  body = body.substr(0, std::min({body.find(", e.what()"), body.find('\n'), kMost}));
  std::string out(body);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return out;
}

bool is_disk_full(std::string_view body) {
  return body.find("No space left on device") != body.npos || body.find("Cannot reserve") != body.npos;
}

}  // namespace

Error refusal(const std::string& where, long status, std::string_view body) {
  Error out{"cannot use " + where, {}, {}, 0};
  const int code = code_of(body);
  const auto* const known = std::ranges::find(kRefusals, code, &Refusal::code);
  if (is_disk_full(body)) {
    out.cause = kDiskFull;
    out.fix = kFreeSpace;
  } else if (known != std::end(kRefusals)) {
    out.cause = known->cause ? known->cause : words_of(body);
    out.fix = known->fix;
    out.code = known->error_code;
  } else if (code != 0) {
    out.cause = fmt::format("the server says: {} (code {})", words_of(body), code);
  } else if (status >= 500) {
    out.cause = fmt::format("it answers with status {} of HTTP", status);
    out.code = kUnreachable;
  } else {
    out.cause = fmt::format("this is not the HTTP port of a ClickHouse server (status {} of HTTP)", status);
    out.fix = "use its HTTP port: 8123, with TLS 8443 (9000 is another protocol)";
  }
  return out;
}

}  // namespace fade::push
