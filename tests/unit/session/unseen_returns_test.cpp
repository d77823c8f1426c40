#include "session/unseen_returns.hpp"

#include <gmock/gmock.h>

#include "base/recording.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct UnseenReturnsTest : ::testing::Test {
  UnseenReturns unseen;
  test::CollectingSink sink;

  std::vector<std::pair<std::string, std::uint64_t>> told(bool at_end) {
    sink.notices.clear();
    unseen.report(sink, 1, at_end);
    std::vector<std::pair<std::string, std::uint64_t>> out;
    for (const Drop& drop : sink.all<Drop>()) {
      EXPECT_TRUE(drop.reason.starts_with(kReturnsNotSeen));
      out.emplace_back(drop.reason.substr(kReturnsNotSeen.size()), drop.n);
    }
    return out;
  }
  void add(const std::string& reason, int n) {
    for (int i = 0; i < n; ++i) unseen.add(reason);
  }
};

TEST_F(UnseenReturnsTest, AreToldByReasonWhenTheyHaveDoubledAndAtTheEnd) {
  EXPECT_THAT(told(true), IsEmpty());
  add("full", 3);
  add("data", 1);
  EXPECT_THAT(told(false), ElementsAre(std::pair("data", 1), std::pair("full", 3)));
  add("full", 2);
  EXPECT_THAT(told(false), IsEmpty());
  add("full", 1);
  EXPECT_THAT(told(false), ElementsAre(std::pair("full", 3)));
  add("full", 1);
  EXPECT_THAT(told(true), ElementsAre(std::pair("full", 1)));
  EXPECT_THAT(told(true), IsEmpty());
  EXPECT_EQ(unseen.total(), 8u);
}

TEST_F(UnseenReturnsTest, ManyReasonsAreCountedAsOne) {
  for (int i = 0; i < 100; ++i) add(std::to_string(i), 1);
  const auto reasons = told(true);
  EXPECT_EQ(reasons.size(), 17u);
  EXPECT_THAT(reasons, ::testing::Contains(std::pair<std::string, std::uint64_t>("other reasons", 84)));
}

}  // namespace
}  // namespace fade
