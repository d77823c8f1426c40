#include "ipc/message.hpp"

#include <gtest/gtest.h>

namespace fade::ipc {
namespace {

TEST(Message, ARequestComesBackAsItWasWritten) {
  const auto request = parse_request(request_text({7, "attach", {{"pid", 4242}}}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id, 7u);
  EXPECT_EQ(request->method, "attach");
  EXPECT_EQ(integer(request->params, "pid"), 4242);
}

TEST(Message, ParametersMayBeLeftOut) {
  const auto request = parse_request(R"({"v":1,"id":1,"method":"status"})");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->params.is_object());
}

struct Bad {
  const char* text;
  std::uint64_t id;
  const char* said;
};
class BadRequests : public testing::TestWithParam<Bad> {};

TEST_P(BadRequests, AreRefusedUnderTheirId) {
  const auto request = parse_request(GetParam().text);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().id, GetParam().id);
  EXPECT_NE(request.error().error.text().find(GetParam().said), std::string::npos) << request.error().error.text();
}

INSTANTIATE_TEST_SUITE_P(Message, BadRequests,
                         testing::Values(Bad{"", 0, "not a JSON object"}, Bad{"[1]", 0, "not a JSON object"},
                                         Bad{"{\"v\":1,", 0, "not a JSON object"},
                                         Bad{"\xff\xfe", 0, "not a JSON object"},
                                         Bad{R"({"id":5,"method":"status"})", 5, "no version"},
                                         Bad{R"({"v":2,"id":5,"method":"status"})", 5, "version 2"},
                                         Bad{R"({"v":"1","id":5,"method":"status"})", 5, "no version"},
                                         Bad{R"({"v":1,"method":"status"})", 0, "id above 0"},
                                         Bad{R"({"v":1,"id":-4,"method":"status"})", 0, "id above 0"},
                                         Bad{R"({"v":1,"id":4})", 4, "a method"},
                                         Bad{R"({"v":1,"id":4,"method":9})", 4, "a method"},
                                         Bad{R"({"v":1,"id":4,"method":"a","params":[1]})", 4, "params"}));

TEST(Message, DeepNestingIsRefusedBeforeItIsParsed) {
  const std::string deep =
      R"({"v":1,"id":1,"method":"x","params":{"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}}";
  const auto request = parse_request(deep);
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().error.message.find("nested"), std::string::npos);
  EXPECT_TRUE(parse_object(R"({"brackets":"[[[[[[[[[[[[[[[[[[[[[[[[[[\"[[[[[["})"));
}

TEST(Message, AnErrorCarriesItsThreeLinesAndItsCode) {
  const auto message = parse_message(error_text(3, {"cannot", "because", "do this", EPERM}));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, Message::Kind::Error);
  EXPECT_EQ(message->id, 3u);
  EXPECT_EQ(message->error.text(), Error({"cannot", "because", "do this", EPERM}).text());
  EXPECT_EQ(message->error.code, EPERM);
}

TEST(Message, EventsAndResultsAreToldApart) {
  EXPECT_EQ(parse_message(event_text(1, {{"x", 1}}))->kind, Message::Kind::Event);
  EXPECT_EQ(parse_message(result_text(1, {{"x", 1}}))->kind, Message::Kind::Result);
  EXPECT_FALSE(parse_message(R"({"v":1,"id":1})"));
  EXPECT_FALSE(parse_message(R"({"v":9,"id":1,"result":{}})"));
}

TEST(Json, WhatIsOfAnotherTypeIsAbsent) {
  const Json json =
      *parse_object(R"({"n":-1,"u":18446744073709551615,"t":"x","b":true,"l":["a"],"m":["a",1],"f":1.5})");
  EXPECT_EQ(integer(json, "n"), -1);
  EXPECT_FALSE(natural(json, "n"));
  EXPECT_EQ(natural(json, "u"), UINT64_MAX);
  EXPECT_FALSE(integer(json, "u"));
  EXPECT_FALSE(integer(json, "f"));
  EXPECT_FALSE(integer(json, "missing"));
  EXPECT_FALSE(text(json, "n"));
  EXPECT_EQ(boolean(json, "b"), true);
  EXPECT_EQ(texts(json, "l"), std::vector<std::string>{"a"});
  EXPECT_FALSE(texts(json, "m"));
}

TEST(Json, BytesThatAreNoTextAreReplaced) { EXPECT_EQ(to_text({{"x", "a\xff"}}), "{\"x\":\"a\xef\xbf\xbd\"}"); }

TEST(Json, ALogLineHasNoControlCharactersAndAnEnd) {
  EXPECT_EQ(one_line("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_LT(one_line(std::string(1'000'000, 'a')).size(), 3000u);
}

}  // namespace
}  // namespace fade::ipc
