// fade_frames(): a stack as one text, from a file that may say anything.
#include "cli/query/stack_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "cli/query/recording.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {
namespace {

using table::Value;
using testing::HasSubstr;

class StackText : public testing::Test {
 protected:
  void SetUp() override {
    path_ = make_recording(directory_, "fade-stacks.db");
    execute(path_, slurp(data_directory() / "stacks.sql"));
  }
  Result<Value> ask(const std::string& sql) {
    auto recording = open_recording(path_);
    if (!recording) return tl::unexpected(recording.error());
    return recording->database.one(sql);
  }
  std::string text(const std::string& stack) {
    const auto found = ask("SELECT fade_frames(" + stack + ", NULL)");
    EXPECT_TRUE(found) << found.error().text();
    return table::raw_text(*found);
  }
  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(StackText, HasTheOutermostFrameFirst) {
  EXPECT_EQ(
      text("3"),
      "<module> (train.py:80);Trainer.step (train.py:42);c10::hip::HIPCachingAllocator::malloc;c10::hip::Block::take");
  EXPECT_EQ(text("4"), "<module> (train.py:80);Trainer.step (train.py:42);libtorch_hip.so+0x2000");
}

TEST_F(StackText, HasNoSemicolonsWithinFrames) {
  EXPECT_EQ(text("7"), "[deeper than 64 frames];evil:name \x1b[31m;0x800000000000");
}

TEST_F(StackText, LeavesOutTheSystemOnRequest) {
  execute(path_,
          "INSERT INTO frame_ VALUES (30, 1, 0, 1, 4198400, 4096, NULL, NULL, NULL), (31, 1, 0, NULL, 1, NULL, "
          "'_start', NULL, NULL);"
          "INSERT INTO stack_ VALUES (30, NULL, 31), (31, 30, 30), (32, 31, 2), (33, 32, 30)");
  const auto own = [&](int stack) { return ask("SELECT fade_frames(" + std::to_string(stack) + ", 1)").value(); };
  EXPECT_EQ(text("33"), "_start;python3.11+0x1000;Trainer.step (train.py:42);python3.11+0x1000");
  EXPECT_EQ(own(33), Value{std::string("Trainer.step (train.py:42)")});
  EXPECT_EQ(own(31), Value{std::string("_start;python3.11+0x1000")}) << "where there is nothing else";
}

TEST_F(StackText, IsNullWhereThereIsNone) {
  for (const char* stack : {"NULL", "0", "99", "-1"}) {
    const auto found = ask(std::string("SELECT fade_frames(") + stack + ", 0) IS NULL");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, Value{std::int64_t{1}}) << stack;
  }
}

TEST_F(StackText, OfAStackThatIsItsOwnParentEnds) {
  execute(path_, "INSERT INTO stack_ VALUES (20, 21, 2), (21, 20, 3)");
  const std::string whole = text("20");
  EXPECT_EQ(std::count(whole.begin(), whole.end(), ';'), StackTexts::kMostFrames - 1);
}

TEST_F(StackText, OfAFrameThatIsMissingHasItsPlace) {
  execute(path_, "INSERT INTO stack_ VALUES (20, 1, 777)");
  EXPECT_EQ(text("20"), "<module> (train.py:80);?");
}

TEST_F(StackText, TellsWhatIsWrongWithTheFile) {
  execute(path_, "DROP VIEW inlined_functions");
  const auto found = ask("SELECT fade_frames(3, 0)");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().cause, HasSubstr("inlined_functions"));
}

TEST_F(StackText, IsNotForTheViewsOfAFile) {
  execute(path_, "CREATE VIEW mine AS SELECT 1 AS one");
  execute(path_,
          "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE VIEW mine AS SELECT fade_frames(3, 0) "
          "AS one' WHERE name = 'mine'");
  EXPECT_FALSE(ask("SELECT one FROM mine"));
}

TEST_F(StackText, IsBoundByTheTimeLimit) {
  auto recording = open_recording(path_);
  ASSERT_TRUE(recording);
  recording->database.limit_time(std::chrono::nanoseconds(1));
  const auto found = recording->database.one(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT count(fade_frames(i % 7, "
      "0)) FROM n");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().cause, HasSubstr("took longer"));
}

}  // namespace
}  // namespace fade::query
