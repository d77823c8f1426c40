#include "service/pattern.hpp"

#include <gtest/gtest.h>

#include <random>
#include <regex>

namespace fade::service {
namespace {

TEST(Pattern, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"",      "(((", "a)", "(a)\\1", "a{2}",  "[",  "[]", "[]a]", "[^]a]", "a**", "a+*",    "a???",
        "[b-a]", "*",   "+a", "a|*",    "(?=a)", "(?", "\\", "\\b",  "[\\q]", "a]",  "[a-\\d]"})
    EXPECT_FALSE(Pattern::parse(text)) << text;
  EXPECT_FALSE(Pattern::parse(std::string(257, 'a')));
  EXPECT_TRUE(Pattern::parse(std::string(256, 'a')));
}

struct Search {
  const char* pattern;
  const char* text;
  bool found;
};

TEST(Pattern, FindsWhatItSays) {
  for (const auto& [pattern, text, found] : {Search{"/python3[.0-9]*$", "/usr/bin/python3.11", true},
                                             Search{"/python3[.0-9]*$", "/usr/bin/python3-config", false},
                                             Search{"^python", "/usr/bin/python3", false},
                                             Search{"^/usr/", "/usr/bin", true},
                                             Search{"a|b|cd", "xxcd", true},
                                             Search{"^(a|b)+$", "abba", true},
                                             Search{"^(a|b)+$", "abca", false},
                                             Search{"a?b", "b", true},
                                             Search{"^a+$", "", false},
                                             Search{"^a*$", "", true},
                                             Search{"^$", "", true},
                                             Search{"^$", "a", false},
                                             Search{"()", "", true},
                                             Search{"a||b", "", true},
                                             Search{"[^/]+$", "/a/b", true},
                                             Search{"^[^/]+$", "/a", false},
                                             Search{"[\\]]", "]", true},
                                             Search{"^a+?$", "", false},
                                             Search{"[a-]", "-", true},
                                             Search{"\\.so$", "libx.so", true},
                                             Search{"\\.so$", "libxso", false},
                                             Search{"^\\d\\w\\s$", "1_ ", true},
                                             Search{"(?:ab)*c", "ababc", true},
                                             Search{"^(a*)*$", "aaa", true},
                                             Search{".", "\xff", true},
                                             Search{"a$b", "ab", false},
                                             Search{"x*", "", true}})
    EXPECT_EQ(Pattern::parse(pattern)->found_in(text), found) << pattern << " in " << text;
}

// For one that tries all ways these take longer than anybody waits; for one that recurses they overrun the stack.
TEST(Pattern, TimeAndStackDoNotExplode) {
  const std::string text(20'000, 'a');
  std::string nested = "a*";
  for (int i = 0; i < 20; ++i) nested = "(" + nested + ")*";
  for (const std::string& expression :
       {std::string("(a*)*b"), std::string("(a|aa)+$b"), nested + "b", std::string("(a?a?a?a?a?a?a?a?a?a?a?a?)*b"),
        std::string("(.*)(.*)(.*)(.*)(.*)b")}) {
    const auto pattern = Pattern::parse(expression);
    ASSERT_TRUE(pattern) << expression;
    EXPECT_FALSE(pattern->found_in(text)) << expression;
  }
  EXPECT_TRUE(Pattern::parse(std::string(128, '(') + std::string(128, ')')));
}

// The library's own is the oracle for small ones.
TEST(Pattern, AgreesWithTheStandardLibrary) {
  std::mt19937 random(5);
  const auto pick = [&](std::string_view from) { return from[random() % from.size()]; };
  int compared = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern, text;
    for (auto n = 1 + random() % 7; n > 0; --n) pattern += pick("aab.|()*+?^$[c-]");
    for (auto n = random() % 6; n > 0; --n) text += pick("aabbc-");
    const auto ours = Pattern::parse(pattern);
    if (!ours) continue;
    try {
      const std::regex theirs(pattern, std::regex::ECMAScript);
      EXPECT_EQ(ours->found_in(text), std::regex_search(text, theirs)) << pattern << " in " << text;
      ++compared;
    } catch (const std::regex_error&) {}
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace fade::service
