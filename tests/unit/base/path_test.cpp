#include "base/path.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(LiteralPath, IsTheSameFileAndNothingElse) {
  EXPECT_EQ(literal_path("run.db"), "./run.db");
  EXPECT_EQ(literal_path(":memory:"), "./:memory:");
  EXPECT_EQ(literal_path("file:x?mode=memory"), "./file:x?mode=memory");
  EXPECT_EQ(literal_path("-x"), "./-x");
  EXPECT_EQ(literal_path("/tmp/a"), "/tmp/a");
  EXPECT_EQ(literal_path("../a"), "../a");
  EXPECT_EQ(literal_path(""), "");
}

}  // namespace
}  // namespace fade
