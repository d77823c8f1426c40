#include "base/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fade {
namespace {

const std::vector<std::string> kWords = {"mem", "memory", "kernel", "stream", "--output", "hipMemcpyAsync"};

TEST(Suggest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("kernal", kWords), "kernel");
  EXPECT_EQ(nearest("memroy", kWords), "memory");
  EXPECT_EQ(nearest("--ouput", kWords), "--output");
  EXPECT_EQ(nearest("hipmemcpyasync", kWords), "hipMemcpyAsync");
}

TEST(Suggest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("xyz", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("kernel", {}), "");
  const std::vector<std::string> letters = {"-o", "-q"};
  EXPECT_EQ(nearest("-z", letters), "");
  EXPECT_EQ(nearest("-Q", letters), "-q");
  EXPECT_EQ(nearest(std::string(100'000, 'k'), kWords), "");
}

TEST(Suggest, CountsSwappedLettersAsOneStepAndCaseAsHalfOne) {
  EXPECT_EQ(edit_distance_x2("abcd", "abdc"), 2U);
  EXPECT_EQ(edit_distance_x2("abcd", "abcD"), 1U);
  EXPECT_EQ(edit_distance_x2("", "abc"), 6U);
  EXPECT_EQ(edit_distance_x2("same", "same"), 0U);
}

}  // namespace
}  // namespace fade
