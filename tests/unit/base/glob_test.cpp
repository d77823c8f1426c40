#include "base/glob.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(Glob, MatchesAsTheShellDoes) {
  EXPECT_TRUE(glob_match("libamdhip64.so*", "libamdhip64.so.6"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("lib?.so", "liba.so"));
  EXPECT_TRUE(glob_match("lib[a-c].so", "libb.so"));
  EXPECT_FALSE(glob_match("lib[!a-c].so", "libb.so"));
  EXPECT_FALSE(glob_match("libamdhip64.so", "libamdhip64.so.6"));
  EXPECT_FALSE(glob_match("LIB*", "lib.so"));
  EXPECT_TRUE(glob_match("*.so", ".so"));
  EXPECT_TRUE(glob_match("a*c", "a/b/c"));
}

TEST(Glob, BrokenPatternsMatchNothingButThemselves) {
  EXPECT_FALSE(glob_match("lib[", "liba"));
  EXPECT_TRUE(glob_match("lib\\*", "lib*"));
  EXPECT_FALSE(glob_match("lib\\*", "libx"));
}

TEST(BaseName, IsWhatStandsBehindTheLastSlash) {
  EXPECT_EQ(base_name("/usr/lib/libx.so"), "libx.so");
  EXPECT_EQ(base_name("libx.so"), "libx.so");
  EXPECT_EQ(base_name("/usr/lib/"), "");
  EXPECT_EQ(base_name(""), "");
}

}  // namespace
}  // namespace fade
