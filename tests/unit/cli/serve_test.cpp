// The server of fade-query serve without a network: requests, guard, token, peers, lanes of calls.
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "cli/query/serve_lanes.hpp"
#include "cli/serve/guard.hpp"
#include "cli/serve/peer.hpp"
#include "cli/serve/pipe.hpp"
#include "cli/serve/request.hpp"
#include "cli/serve/token.hpp"

namespace fade::serve {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

Head head_for(std::string_view target) { return {"GET", target, {"127.0.0.1:8000"}, {}, true}; }

unsigned status_of(const Head& head) {
  const auto checked = Guard(kToken).check(head);
  return checked ? 200 : checked.error().status;
}

TEST(ServeToken, Has128BitsAndIsNewEachTime) {
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) all.insert(fresh_token().value());
  EXPECT_EQ(all.size(), 100U);
  EXPECT_THAT(*all.begin(), testing::MatchesRegex("[0-9a-f]{32}"));
}

TEST(ServeToken, OnlyTheWholeTokenIsRight) {
  EXPECT_TRUE(is_same_token(kToken, kToken));
  EXPECT_FALSE(is_same_token(kToken.substr(1), kToken));
  EXPECT_FALSE(is_same_token("1" + kToken.substr(1), kToken));
  EXPECT_FALSE(is_same_token("", ""));
}

TEST(ServeRequest, HasANameAndParameters) {
  const auto request = parse_request("range.json?from=12&to=-3&sql=SELECT+1%2C%202%25&flag");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "range.json");
  EXPECT_EQ(request->number("from"), 12);
  EXPECT_EQ(request->number("to"), -3);
  EXPECT_EQ(request->text("sql"), "SELECT 1, 2%");
  EXPECT_EQ(request->number("flag"), std::nullopt);
  EXPECT_EQ(request->text("none"), "");
  EXPECT_EQ(parse_request("")->name, "");
}

TEST(ServeRequest, RefusesWhatIsMalformed) {
  for (const char* path : {"a?b=%4", "a?b=%zz", "%", "a?b=1&b=2"}) EXPECT_FALSE(parse_request(path)) << path;
  std::string many = "a?";
  for (int i = 0; i < 17; ++i) many += "p" + std::to_string(i) + "=1&";
  EXPECT_FALSE(parse_request(many));
  EXPECT_EQ(parse_request("a?n=12x")->number("n"), std::nullopt);
  EXPECT_EQ(parse_request("a?n=99999999999999999999")->number("n"), std::nullopt);
}

TEST(ServeGuard, LetsTheTokenIn) {
  const std::string target = "/" + kToken + "/call.json?id=1";
  const auto checked = Guard(kToken).check(head_for(target));
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->name, "call.json");
}

TEST(ServeGuard, TellsNothingWithoutTheToken) {
  for (const char* target : {"/", "", "*", "/x/", "/0123456789abcdef0123456789abcdee/", "http://127.0.0.1/"})
    for (const char* method : {"GET", "POST"}) {
      Head head = head_for(target);
      head.method = method;
      EXPECT_EQ(status_of(head), 403U) << target;
    }
}

TEST(ServeGuard, TakesOnlyGet) {
  const std::string target = "/" + kToken + "/";
  for (const char* method : {"POST", "HEAD", "PUT", "OPTIONS", "get"}) {
    Head head = head_for(target);
    head.method = method;
    EXPECT_EQ(status_of(head), 405U) << method;
  }
}

TEST(ServeGuard, ChecksTheHostAgainstRebinding) {
  const std::string target = "/" + kToken + "/";
  Head head = head_for(target);
  for (const char* host : {"127.0.0.1", "localhost", "localhost:9", "[::1]:80"}) {
    head.hosts = {host};
    EXPECT_EQ(status_of(head), 200U) << host;
  }
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil", "127.0.0.1:", "localhost:80x", ""}) {
    head.hosts = {host};
    EXPECT_EQ(status_of(head), 403U) << host;
  }
  head.hosts = {};
  EXPECT_EQ(status_of(head), 403U);
  head.hosts = {"localhost", "localhost"};
  EXPECT_EQ(status_of(head), 403U);
}

TEST(ServeGuard, ChecksTheOrigin) {
  const std::string target = "/" + kToken + "/";
  Head head = head_for(target);
  head.origins = {"http://127.0.0.1:8000"};
  EXPECT_EQ(status_of(head), 200U);
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001"}) {
    head.origins = {origin};
    EXPECT_EQ(status_of(head), 403U) << origin;
  }
}

TEST(ServeGuard, RefusesOtherUsers) {
  const std::string target = "/" + kToken + "/";
  Head head = head_for(target);
  head.peer_is_user = false;
  EXPECT_EQ(status_of(head), 403U);
}

TEST(ServeGuard, AddsTheSlashThatRelativeAddressesNeed) {
  const std::string target = "/" + kToken;
  const auto checked = Guard(kToken).check(head_for(target));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().status, 308U);
  EXPECT_EQ(checked.error().location, target + "/");
}

TEST(ServePeer, IsTheOwnerOfTheOtherEnd) {
  const LocalConnection connection{50082, 8080};
  const std::string line =
      "   3: 0100007F:C3A2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 81231 1";
  EXPECT_EQ(owner_in_line(line, connection), std::optional<uid_t>(1000));
  EXPECT_EQ(owner_in_line(line, {8080, 50082}), std::nullopt);
  std::string of_ipv6 = line;
  for (const char* address : {"0100007F:C3A2", "0100007F:1F90"})
    of_ipv6.insert(of_ipv6.find(address), "0000000000000000FFFF0000");
  EXPECT_EQ(owner_in_line(of_ipv6, connection), std::optional<uid_t>(1000));
  std::string waiting = line;
  waiting.replace(waiting.find(" 01 "), 4, " 06 ");
  EXPECT_EQ(owner_in_line(waiting, connection), std::nullopt);
  for (const char* other : {"", "  sl  local_address rem_address   st", "0: 0100007F:C3A2 0100007F:1F90 01"})
    EXPECT_EQ(owner_in_line(other, connection), std::nullopt) << other;
}

TEST(ServePipe, PassesPartsOnInOrder) {
  Pipe pipe;
  const Cancelled cancelled = false;
  int told = 0;
  EXPECT_FALSE(pipe.take([&] { ++told; }).part);
  EXPECT_TRUE(pipe.put("a", cancelled));
  EXPECT_TRUE(pipe.put("b", cancelled));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(pipe.take({}).part, "a");
  EXPECT_EQ(pipe.take({}).part, "b");
  pipe.finish(true);
  const Pipe::Taken last = pipe.take({});
  EXPECT_TRUE(last.ended && last.whole && !last.part);
}

TEST(ServePipe, WaitsForItsReader) {
  Pipe pipe;
  const Cancelled cancelled = false;
  constexpr int kParts = 20;
  std::thread writer([&] {
    for (int i = 0; i < kParts; ++i) pipe.put(std::string(Pipe::kMostBytes, 'x'), cancelled);
    pipe.finish(true);
  });
  int parts = 0;
  while (!pipe.take({}).ended) ++parts;
  writer.join();
  EXPECT_GE(parts, kParts);
}

TEST(ServePipe, EndsWithTheBrowser) {
  Pipe pipe;
  Cancelled cancelled = false;
  pipe.put(std::string(Pipe::kMostBytes + 1, 'x'), cancelled);
  pipe.close();
  EXPECT_FALSE(pipe.put("more", cancelled));
  Pipe other;
  other.put(std::string(Pipe::kMostBytes + 1, 'x'), cancelled);
  cancelled = true;
  EXPECT_FALSE(other.put("more", cancelled));
}

}  // namespace
}  // namespace fade::serve

namespace fade::query::live {
namespace {

TEST(ServeLanes, ShowCallsInsideOfCalls) {
  Lanes lanes({0, 1000, 1000});
  lanes.add(1, {1, 0, 500, 7, false});
  lanes.add(1, {2, 100, 200, 8, true});
  lanes.add(1, {3, 500, 700, 7, false});
  EXPECT_EQ(lanes.finish(10), 0U);
  const Lane& lane = lanes.lanes().at(1);
  ASSERT_EQ(lane.items().size(), 3U);
  EXPECT_EQ(lane.depth(), 2);
  EXPECT_EQ(lane.items()[1].depth, 1);
  EXPECT_EQ(lane.items()[1].errors, 1);
  EXPECT_EQ(lane.items()[2].depth, 0);
}

TEST(ServeLanes, DrawWhatIsNarrowerThanAPixelTogether) {
  Lanes lanes({0, 1'000'000, 100});
  for (std::int64_t i = 0; i < 1000; ++i) lanes.add(1, {i + 1, i * 1000, i * 1000 + 10, 7, i == 5});
  lanes.finish(10);
  std::int64_t calls = 0, errors = 0;
  for (const Item& item : lanes.lanes().at(1).items()) calls += item.n, errors += item.errors;
  EXPECT_EQ(calls, 1000);
  EXPECT_EQ(errors, 1);
  EXPECT_LE(lanes.lanes().at(1).items().size(), 101U);
}

TEST(ServeLanes, AreBounded) {
  Lanes lanes({0, 4'000'000, 4000});
  for (std::int64_t thread = 1; thread <= 300; ++thread)
    for (std::int64_t i = 0; i < 100 + thread; ++i) lanes.add(thread, {i + 1, i * 4000, i * 4000 + 3000, 7, false});
  EXPECT_EQ(lanes.finish(48), 252U);
  EXPECT_TRUE(lanes.lanes().contains(300));
  std::size_t items = 0;
  std::int64_t calls = 0;
  for (const auto& [id, lane] : lanes.lanes()) {
    items += lane.items().size();
    for (const Item& item : lane.items()) calls += item.n;
  }
  EXPECT_LE(items, Lanes::kMostItems);
  std::int64_t wanted = 0;
  for (std::int64_t thread = 253; thread <= 300; ++thread) wanted += 100 + thread;
  EXPECT_EQ(calls, wanted);
}

}  // namespace
}  // namespace fade::query::live
