#include "base/hanging.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(Hanging, LeavesLinesThatFit) {
  EXPECT_EQ(hanging("fade: short\n  cause: short\n", 40), "fade: short\n  cause: short\n");
  EXPECT_EQ(hanging("fade: a line without a limit", 0), "fade: a line without a limit");
}

TEST(Hanging, IndentsTheRestAsFarAsTheText) {
  EXPECT_EQ(hanging("fade: the file of the recording exists\n  fix:   --force overwrites it, --append adds to it", 30),
            "fade: the file of the\n"
            "      recording exists\n"
            "  fix:   --force overwrites\n"
            "         it, --append adds to\n"
            "         it");
  EXPECT_EQ(hanging("  without a label the blanks of the line stay", 30),
            "  without a label the blanks\n"
            "  of the line stay");
  EXPECT_EQ(hanging("  told by: hipGetDeviceProperties and others", 30),
            "  told by: hipGetDeviceProperties\n"
            "           and others");
  EXPECT_EQ(hanging("  ✗ the kernel lets us look into it", 28), "  ✗ the kernel lets us look\n    into it");
}

TEST(Hanging, KeepsLongWordsWhole) {
  EXPECT_EQ(hanging("fade: see /a/path/that/is/longer/than/the/line now", 26),
            "fade: see\n      /a/path/that/is/longer/than/the/line\n      now");
}

TEST(Hanging, CountsCharactersNotBytes) { EXPECT_EQ(hanging("fade: µµµµ µµµµ µµµµ", 26), "fade: µµµµ µµµµ µµµµ"); }

}  // namespace
}  // namespace fade
