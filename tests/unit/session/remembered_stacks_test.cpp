#include "session/remembered_stacks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace fade {
namespace {

// A thread's stack is an array of this process.
class Remembered : public ::testing::Test {
 protected:
  RemoteAddr at(std::size_t word) const { return {reinterpret_cast<std::uint64_t>(&words_[word])}; }
  StackId found(const RememberedStacks::Place& place) {
    snapshot_.take(memory_, at(0), {}, sizeof words_);
    const auto* stack = stacks_.find(place, {}, snapshot_, 0);
    return stack ? stack->id : 0;
  }
  // The stack rests on the first word as it is now.
  void put(const RememberedStacks::Place& place, StackId id) {
    StackEvidence evidence;
    evidence.word(at(0), words_[0]);
    stacks_.put(place, evidence, {id});
  }

  std::array<std::uint64_t, 16> words_{};
  const ProcessMemory memory_{own_pid()};
  StackSnapshot snapshot_;
  RememberedStacks stacks_;
  RememberedStacks::Place place_{.program = 1,
                                 .generation = 1,
                                 .fs_base = 0x7000,
                                 .pc = 0x401000,
                                 .sp = 0x7ff0,
                                 .is_caller = true,
                                 .with_python = false};
};

TEST_F(Remembered, ByWhatItRestsOn) {
  EXPECT_EQ(found(place_).value(), 0u);
  put(place_, 7);
  EXPECT_EQ(found(place_).value(), 7u);
  words_[1] = 5;
  EXPECT_EQ(found(place_).value(), 7u);
  words_[0] = 5;
  EXPECT_EQ(found(place_).value(), 0u) << "the same place, another caller";
}

TEST_F(Remembered, ForThatPlaceOnly) {
  put(place_, 7);
  const auto other = [&](auto&& change) {
    RememberedStacks::Place place = place_;
    change(place);
    return found(place);
  };
  EXPECT_EQ(other([](auto& p) { p.program = 2; }).value(), 0u);
  EXPECT_EQ(other([](auto& p) { p.generation = 2; }).value(), 0u) << "other code may be mapped there";
  EXPECT_EQ(other([](auto& p) { p.fs_base = 0x8000; }).value(), 0u);
  EXPECT_EQ(other([](auto& p) { p.pc += 1; }).value(), 0u);
  EXPECT_EQ(other([](auto& p) { p.sp += 8; }).value(), 0u);
  EXPECT_EQ(other([](auto& p) { p.is_caller = false; }).value(), 0u);
  EXPECT_EQ(other([](auto& p) { p.with_python = true; }).value(), 0u);
  EXPECT_EQ(other([](auto&) {}).value(), 7u);
}

TEST_F(Remembered, SeveralOfOnePlaceAndTheOldestGoes) {
  for (StackId id = 1; id <= 4; ++id) {
    words_[0] = id.value();
    put(place_, id);
    put(place_, id);  // again, as where its time had passed
  }
  for (StackId id = 1; id <= 4; ++id) {
    words_[0] = id.value();
    EXPECT_EQ(found(place_), id);
  }
  words_[0] = 5;
  put(place_, 5);
  EXPECT_EQ(found(place_).value(), 5u);
  words_[0] = 1;
  EXPECT_EQ(found(place_).value(), 0u);
  words_[0] = 2;
  EXPECT_EQ(found(place_).value(), 2u);
}

}  // namespace
}  // namespace fade
