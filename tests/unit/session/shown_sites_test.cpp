#include "session/shown_sites.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

constexpr RemoteAddr kEntry{0x1000}, kOther{0x2000};
constexpr RemoteRange kStack{{0x70000}, {0x80000}};
constexpr RemoteAddr kOuter{0x7f000}, kInner{0x7e000}, kElsewhere{0x500000};

struct ShownSitesTest : ::testing::Test {
  ShownSites shown;
  bool hit(RemoteAddr site, RemoteAddr sp) {
    return shown.hit(site, sp, [] { return kStack; });
  }
};

TEST_F(ShownSitesTest, AnEntryThatWasShownIsTheSameCallOnce) {
  shown.add(kEntry, kOuter);
  EXPECT_TRUE(hit(kEntry, kOuter));
  EXPECT_FALSE(hit(kEntry, kOuter));
}

TEST_F(ShownSitesTest, EntriesOfOneSiteCanBeTaken) {
  shown.add(kEntry, kOuter);
  shown.add(kOther, kOuter);
  EXPECT_THAT(shown.take(kEntry), testing::ElementsAre(kOuter));
  EXPECT_TRUE(hit(kOther, kOuter));
  EXPECT_FALSE(hit(kEntry, kOuter));
}

TEST_F(ShownSitesTest, AnotherDepthIsAnotherCall) {
  shown.add(kEntry, kOuter);
  EXPECT_FALSE(hit(kEntry, kInner));
  EXPECT_TRUE(hit(kEntry, kOuter));
}

// The handler of the first signal calls HIP, and a second signal meets it there.
TEST_F(ShownSitesTest, ASignalInAHandlerLeavesTheOuterEntry) {
  shown.add(kEntry, kOuter);
  shown.add(kOther, kInner);
  EXPECT_TRUE(hit(kOther, kInner));
  EXPECT_TRUE(hit(kEntry, kOuter));
}

TEST_F(ShownSitesTest, AHandlerOnAnotherStackLeavesTheOuterEntry) {
  shown.add(kEntry, kOuter);
  EXPECT_FALSE(hit(kOther, kElsewhere));
  EXPECT_TRUE(hit(kEntry, kOuter));
}

// By longjmp out of the handler, for example.
TEST_F(ShownSitesTest, AnEntryThatTheThreadLeftIsForgotten) {
  shown.add(kEntry, kInner);
  EXPECT_FALSE(hit(kOther, kOuter));
  EXPECT_EQ(shown.size(), 0u);
  EXPECT_FALSE(hit(kEntry, kInner));
}

TEST_F(ShownSitesTest, AnEntryThatWasShownTwiceIsKeptOnce) {
  shown.add(kEntry, kOuter);
  shown.add(kEntry, kOuter);
  EXPECT_TRUE(hit(kEntry, kOuter));
  EXPECT_FALSE(hit(kEntry, kOuter));
}

TEST_F(ShownSitesTest, TheStackIsAskedOnlyWhereItMatters) {
  shown.add(kEntry, kOuter);
  EXPECT_FALSE(shown.hit(kOther, kInner, []() -> RemoteRange {
    ADD_FAILURE();
    return {};
  }));
}

TEST_F(ShownSitesTest, TheListIsBounded) {
  for (std::uint64_t i = 0; i < 2 * ShownSites::kMost; ++i) shown.add(kEntry, {kOuter.value - i * 8});
  EXPECT_EQ(shown.size(), ShownSites::kMost);
}

}  // namespace
}  // namespace fade
