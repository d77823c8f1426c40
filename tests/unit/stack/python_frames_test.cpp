#include "stack/python_frames.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "stack/python_code.hpp"
#include "stack/python_memory.hpp"
#include "stack/python_threads.hpp"

namespace fade {
namespace {

using test::Blocks;
using test::small_layout;
using Entry = PythonLayout::Entry;

constexpr std::uint64_t kRuntime = 0x1000, kInterpreter = 0x2000, kThread = 0x3000, kChunk = 0x10000, kHeap = 0x50000,
                        kCStack = 0x60000;
constexpr std::uint64_t kCode = 0x80000, kFsBase = 0x7f0000001740;
constexpr std::uint64_t kFrame = 32;  // bytes from one frame to the next
constexpr std::uint8_t kOwnedByThread = 0, kOwnedByGenerator = 1, kShim = 3;

// One interpreter with one thread.
class PythonStack : public ::testing::Test {
 protected:
  explicit PythonStack(Entry entry = Entry::Shim) : layout_(small_layout(entry)) {
    memory_.block(kRuntime, 64);
    memory_.block(kInterpreter, 64);
    memory_.block(kThread, 64);
    memory_.block(kChunk, 0x4000);
    memory_.block(kHeap, 0x1000);
    memory_.block(kCStack, 0x1000);
    memory_.put<std::uint64_t>(kRuntime + layout_.interpreters, kInterpreter);
    memory_.put<std::uint64_t>(kInterpreter + layout_.threads, kThread);
    memory_.put<std::uint64_t>(kThread + layout_.thread_id, kFsBase);
    memory_.put<std::uint64_t>(kThread + layout_.chunk, kChunk);
    memory_.put<std::uint64_t>(kChunk + 8, 0x4000);
  }

  void frame(std::uint64_t at, std::uint64_t previous, std::uint64_t code, int instruction, std::uint8_t owner,
             bool entry = false) {
    memory_.put(at + layout_.frame_code, code);
    memory_.put(at + layout_.frame_previous, previous);
    memory_.put(at + layout_.frame_instruction, code + layout_.bytecode + static_cast<std::uint64_t>(instruction));
    memory_.put(at + layout_.frame_owner, owner);
    if (entry) memory_.put(at + layout_.frame_is_entry, std::uint8_t{1});
  }
  // n frames in the chunk, from the lowest address up; the last one is the innermost.
  void fill(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = kChunk + 24 + i * kFrame;
      frame(at, i == 0 ? 0 : at - kFrame, kCode + i * 0x100, static_cast<int>(i) * 2, kOwnedByThread);
      runs(at);
    }
  }
  void runs(std::uint64_t at) { memory_.put(kThread + layout_.thread_frame, at); }

  std::vector<PythonFrame> frames(std::size_t limit = 256) {
    PythonThreads threads({layout_, {kRuntime}, "3.12.1"});
    const auto thread = threads.find(kFsBase, memory_);
    return thread ? walk_.of(*thread, memory_, limit, [this](std::uint64_t code) { return code == internal_; })
                  : std::vector<PythonFrame>();
  }

  Blocks memory_;
  PythonLayout layout_;
  PythonFrames walk_{layout_};
  std::uint64_t internal_ = 0;
};

TEST_F(PythonStack, IsReadInOneGo) {
  fill(200);
  memory_.reads = 0;
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 200u);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].code, kCode + (199 - i) * 0x100);
    EXPECT_EQ(seen[i].instruction, static_cast<int>(199 - i) * 2);
  }
  EXPECT_LE(memory_.reads, 6u);  // two for the list of interpreters, two for the thread, one for all frames
  EXPECT_EQ(walk_.window().begin.value, kChunk);
}

TEST_F(PythonStack, EndsAtTheLimit) {
  fill(200);
  EXPECT_EQ(frames(64).size(), 64u);
  EXPECT_EQ(frames(0).size(), 0u);
}

TEST_F(PythonStack, ShimsCloseTheRunOfTheLoopBeforeThem) {
  const std::uint64_t outer = kChunk + 24, inner = outer + kFrame, innermost = inner + kFrame;
  frame(kCStack + 512, 0, 0, 0, kShim);
  frame(outer, kCStack + 512, kCode, 0, kOwnedByThread);
  frame(kCStack, outer, 0, 0, kShim);
  frame(inner, kCStack, kCode + 0x100, 0, kOwnedByThread);
  frame(innermost, inner, kCode + 0x200, 0, kOwnedByThread);
  runs(innermost);
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_FALSE(seen[0].entry);
  EXPECT_TRUE(seen[1].entry);
  EXPECT_TRUE(seen[2].entry);
}

TEST_F(PythonStack, ALoopWithoutAFrameIsSaid) {
  frame(kCStack + 512, 0, 0, 0, kShim);
  frame(kChunk + 24, kCStack + 512, kCode, 0, kOwnedByThread);
  frame(kCStack, kChunk + 24, 0, 0, kShim);
  runs(kCStack);
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].code, 0u);
  EXPECT_TRUE(seen[0].entry);
  EXPECT_EQ(seen[1].code, kCode);
  layout_.has_base_frame = true;  // 3.15: the last shim is no loop's
  walk_ = PythonFrames(layout_);
  frame(kCStack, 0, 0, 0, kShim);
  EXPECT_TRUE(frames().empty());
}

TEST_F(PythonStack, FramesOfGeneratorsLieOnTheHeapAndOthersInOlderChunks) {
  constexpr std::uint64_t kOlder = 0x20000;
  memory_.block(kOlder, 0x4000);
  memory_.put<std::uint64_t>(kOlder + 8, 0x4000);
  memory_.put<std::uint64_t>(kChunk, kOlder);
  frame(kOlder + 24, 0, kCode, 0, kOwnedByThread);
  frame(kOlder + 24 + kFrame, kOlder + 24, kCode + 0x100, 0, kOwnedByThread);
  frame(kHeap, kOlder + 24 + kFrame, kCode + 0x200, 0, kOwnedByGenerator);
  frame(kChunk + 24, kHeap, kCode + 0x300, 0, kOwnedByThread);
  runs(kChunk + 24);
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[3].code, kCode);
  EXPECT_EQ(walk_.window().begin.value, kOlder);
}

TEST_F(PythonStack, InternalCodeIsLeftOut) {
  fill(5);
  internal_ = kCode + 0x200;
  EXPECT_EQ(frames().size(), 4u);
}

TEST_F(PythonStack, TornListsGiveAShorterStack) {
  fill(5);
  frame(kChunk + 24, kChunk + 24 + 4 * kFrame, kCode, 0, kOwnedByThread);  // a circle
  EXPECT_EQ(frames(100).size(), 100u);
  frame(kChunk + 24 + kFrame, 0x123450, kCode, 0, kOwnedByThread);  // nowhere
  EXPECT_EQ(frames().size(), 4u);
  frame(kChunk + 24 + 2 * kFrame, 0xffffffffffffff08, kCode, 0, kOwnedByThread);
  EXPECT_EQ(frames().size(), 3u);
  frame(kChunk + 24 + 3 * kFrame, 0x10021, kCode, 0, kOwnedByThread);  // not aligned
  EXPECT_EQ(frames().size(), 2u);
  frame(kChunk + 24 + 4 * kFrame, 0x10021, 3, 0, kOwnedByThread);
  EXPECT_TRUE(frames().empty());
  runs(0xdead00000000);
  EXPECT_TRUE(frames().empty());
}

TEST_F(PythonStack, AnInstructionOutsideOfTheCodeHasNotBegun) {
  frame(kChunk + 24, 0, kCode, -2, kOwnedByThread);
  runs(kChunk + 24);
  EXPECT_EQ(frames().at(0).instruction, -1);
  frame(kChunk + 24, 0, kCode, 0x7fffffff, kOwnedByThread);
  EXPECT_EQ(frames().at(0).instruction, -1);
}

class PythonStackWithFlags : public PythonStack {
 protected:
  PythonStackWithFlags() : PythonStack(Entry::Flag) {}
};

TEST_F(PythonStackWithFlags, TheFrameSaysWhetherItBeginsTheLoop) {
  fill(3);
  frame(kChunk + 24 + kFrame, kChunk + 24, kCode + 0x100, 0, kOwnedByThread, true);
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_FALSE(seen[0].entry);
  EXPECT_TRUE(seen[1].entry);
}

TEST_F(PythonStack, ThreadsAreFoundByTheirPointerInEveryInterpreter) {
  constexpr std::uint64_t kOther = 0x4000, kSecond = 0x5000;
  memory_.block(kOther, 64);
  memory_.block(kSecond, 64);
  memory_.put(kInterpreter + layout_.interpreter_next, kOther);
  memory_.put(kOther + layout_.threads, kSecond);
  memory_.put<std::uint64_t>(kSecond + layout_.thread_id, 0x7f0000009740);
  PythonThreads threads({layout_, {kRuntime}, "3.12.1"});
  const auto found = threads.find(0x7f0000009740, memory_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state.value, kSecond);
  EXPECT_EQ(found->interpreter.value, kOther);
  EXPECT_FALSE(threads.find(0x7f000000a740, memory_));
  memory_.reads = 0;
  EXPECT_TRUE(threads.find(0x7f0000009740, memory_));
  EXPECT_EQ(memory_.reads, 1u);
}

TEST_F(PythonStack, AStateThatWentIsLookedForAgainAndAStrangersListIsNotWalkedTwice) {
  PythonThreads threads({layout_, {kRuntime}, "3.12.1"});
  ASSERT_TRUE(threads.find(kFsBase, memory_));
  memory_.put<std::uint64_t>(kThread + layout_.thread_id, 5);
  EXPECT_FALSE(threads.find(kFsBase, memory_));
  constexpr std::uint64_t kNewest = 0x6000;  // states are put in front
  memory_.block(kNewest, 64);
  memory_.put(kNewest + layout_.thread_next, kThread);
  memory_.put(kNewest + layout_.thread_id, kFsBase);
  memory_.put(kInterpreter + layout_.threads, kNewest);
  EXPECT_TRUE(threads.find(kFsBase, memory_));
  memory_.put(kThread + layout_.thread_next, kNewest);  // a circle
  EXPECT_FALSE(threads.find(77, memory_));
  memory_.reads = 0;
  EXPECT_FALSE(threads.find(77, memory_));
  EXPECT_LE(memory_.reads, 3u);
}

// As free() leaves a state: all but its list is as it was, and a new thread has the pointer that the old one had.
TEST_F(PythonStack, AStateThatWentIsNotTakenForThatOfTheNextThread) {
  layout_.thread_previous = 32;
  PythonThreads threads({layout_, {kRuntime}, "3.12.1"});
  constexpr std::uint64_t kNewest = 0x6000, kNext = 0x7000;
  memory_.block(kNewest, 64);
  memory_.put(kNewest + layout_.thread_next, kThread);
  memory_.put(kThread + layout_.thread_previous, kNewest);
  memory_.put(kInterpreter + layout_.threads, kNewest);
  ASSERT_EQ(threads.find(kFsBase, memory_)->state.value, kThread);
  memory_.reads = 0;
  ASSERT_EQ(threads.find(kFsBase, memory_)->state.value, kThread);
  EXPECT_EQ(memory_.reads, 2u);
  memory_.block(kNext, 64);
  memory_.put(kNext + layout_.thread_id, kFsBase);
  memory_.put<std::uint64_t>(kNewest + layout_.thread_next, 0);
  memory_.put(kNext + layout_.thread_next, kNewest);
  memory_.put(kNewest + layout_.thread_previous, kNext);
  memory_.put(kInterpreter + layout_.threads, kNext);
  EXPECT_EQ(threads.find(kFsBase, memory_)->state.value, kNext);
  memory_.put<std::uint64_t>(kInterpreter + layout_.threads, kNewest);
  memory_.put<std::uint64_t>(kNewest + layout_.thread_previous, 0);
  EXPECT_FALSE(threads.find(kFsBase, memory_)) << "the first in the list is led to by the interpreter";
}

class PythonCodes : public PythonStack {
 protected:
  PythonCodes() {
    memory_.block(kCode, 64);
    memory_.ascii(0x90000, layout_, "train.py");
    memory_.ascii(0x91000, layout_, "step");
    memory_.ascii(0x92000, layout_, "Trainer.step");
    memory_.ascii(0x93000, layout_, "Trainer.save");
    memory_.block(0x94000, 64);
    memory_.put<std::uint64_t>(0x94000 + layout_.bytes_size, 3);
    memory_.put_bytes(0x94000 + layout_.bytes_data, "\xd8\x01\x02", 3);  // one unit, one line on
    code(0x92000);
  }
  void code(std::uint64_t qualified_name) {
    memory_.put<std::uint64_t>(kCode + layout_.file, 0x90000);
    memory_.put<std::uint64_t>(kCode + layout_.name, 0x91000);
    memory_.put(kCode + layout_.qualified_name, qualified_name);
    memory_.put<std::uint64_t>(kCode + layout_.line_table, 0x94000);
    memory_.put<std::int32_t>(kCode + layout_.first_line, 41);
  }
};

TEST_F(PythonCodes, HaveNamesAndLines) {
  PythonCode codes(layout_, {});
  const auto place = codes.place(kCode, 0, memory_);
  EXPECT_EQ(place.function, "Trainer.step");
  EXPECT_EQ(place.file, "train.py");
  EXPECT_EQ(place.line, 42);
  EXPECT_NE(place.id, 0u);
  EXPECT_EQ(codes.place(kCode, 0, memory_).id, place.id);
  EXPECT_EQ(codes.place(kCode, -1, memory_).line, 41);
  EXPECT_NE(codes.place(kCode, -1, memory_).id, place.id);
  EXPECT_EQ(codes.place(0x123, 0, memory_).function, "?");
  EXPECT_EQ(codes.place(0x123, 0, memory_).id, 0u);
}

TEST_F(PythonCodes, TheNameServesWhereThereIsNoQualifiedOne) {
  code(0);
  PythonCode codes(layout_, {});
  EXPECT_EQ(codes.place(kCode, 0, memory_).function, "step");
}

TEST_F(PythonCodes, AnAddressIsLookedAtEachTimeUntilItHasSettledThenEverySecond) {
  PythonCode codes(layout_, {});
  const auto name = [&](std::uint64_t milliseconds) {
    codes.begin(milliseconds);
    return codes.place(kCode, 0, memory_).function;
  };
  EXPECT_EQ(name(5000), "Trainer.step");
  code(0x93000);
  for (const std::uint64_t at : {5000u, 5001u, 5002u, 5050u, 5998u}) EXPECT_EQ(name(at), "Trainer.save");
  code(0x92000);
  for (const std::uint64_t at : {5999u, 6000u, 6150u, 6997u, 6998u}) EXPECT_EQ(name(at), "Trainer.step");
  memory_.reads = 0;
  EXPECT_EQ(name(6999), "Trainer.step");
  EXPECT_EQ(memory_.reads, 0u);
  code(0x93000);
  EXPECT_EQ(name(7996), "Trainer.step") << "within the second";
  EXPECT_EQ(name(7998), "Trainer.save");
}

TEST_F(PythonCodes, AnInterpreterThatCountsIsTrustedUntilItsCountChanges) {
  layout_.generation = 16;
  PythonCode codes(layout_, {});
  codes.begin(7);
  (void)codes.place(kCode, 0, memory_);
  memory_.reads = 0;
  EXPECT_EQ(codes.place(kCode, 0, memory_).function, "Trainer.step");
  EXPECT_EQ(memory_.reads, 0u);
  code(0x93000);
  codes.begin(8);
  EXPECT_EQ(codes.place(kCode, 0, memory_).function, "Trainer.save");
}

// Whichever byte of the memory is another one: the evidence says no, or the stack is the same.
class PythonEvidence : public PythonCodes {
 protected:
  PythonEvidence() {
    constexpr std::uint64_t outer = kChunk + 24, inner = outer + kFrame;
    frame(kCStack + 512, 0, 0, 0, kShim);
    frame(outer, kCStack + 512, kCode, 0, kOwnedByThread);
    frame(kCStack, outer, 0, 0, kShim);
    frame(kHeap, kCStack, kCode, 2, kOwnedByGenerator);
    frame(inner, kHeap, kCode, 0, kOwnedByThread);
    runs(inner);
  }
  std::string look(std::uint64_t milliseconds, StackEvidence* evidence) {
    codes_.begin(milliseconds);
    const auto thread = threads_.find(kFsBase, memory_);
    if (!thread) return "";
    if (evidence) evidence->word(RemoteAddr{kThread} + layout_.thread_id, kFsBase);
    std::string out;
    for (const PythonFrame& frame : walk_.of(
             *thread, memory_, 256, [](std::uint64_t) { return false; }, evidence)) {
      const auto& place = codes_.place(frame.code, frame.instruction, memory_, evidence);
      out += place.function + ":" + std::to_string(place.line) + (frame.entry ? "|" : ",");
    }
    return out;
  }
  std::size_t change_each_byte(std::uint64_t milliseconds) {
    StackEvidence evidence;
    const std::string whole = look(milliseconds, &evidence);
    EXPECT_EQ(whole, "Trainer.step:42,Trainer.step:0|Trainer.step:42|");
    EXPECT_TRUE(evidence.is_whole() && evidence.holds({}, memory_, milliseconds));
    std::size_t noticed = 0;
    memory_.each_byte([&](std::byte& byte) {
      const std::byte was = std::exchange(byte, byte ^ std::byte{0x41});
      const bool holds = evidence.holds({}, memory_, milliseconds);
      if (holds) {
        EXPECT_EQ(look(milliseconds, nullptr), whole);
      }
      noticed += !holds;
      byte = was;
    });
    return noticed;
  }

  PythonThreads threads_{{layout_, {kRuntime}, "3.12.1"}};
  PythonCode codes_{layout_, {}};
};

TEST_F(PythonEvidence, IsAllThatTheStackRestsOn) {
  const std::size_t of_frames = 5 * 25, of_thread = 16, of_code = 4 * 8 + 4;
  EXPECT_EQ(change_each_byte(5000), of_frames + of_thread + of_code);
}

TEST_F(PythonEvidence, NamesCodeOnlyUntilItHasSettled) {
  for (const std::uint64_t at : {5000u, 5001u, 5002u, 5003u}) (void)look(at, nullptr);
  EXPECT_EQ(change_each_byte(6500), 5u * 25 + 16);
  StackEvidence evidence;
  (void)look(6500, &evidence);
  EXPECT_TRUE(evidence.holds({}, memory_, 7499));
  EXPECT_FALSE(evidence.holds({}, memory_, 7500)) << "then the code is to be looked at again";
}

TEST_F(PythonEvidence, IsThereOnlyWhereAllCouldBeRead) {
  StackEvidence evidence;
  memory_.drop(kHeap);
  (void)look(5000, &evidence);
  EXPECT_FALSE(evidence.is_whole());
  EXPECT_FALSE(evidence.holds({}, memory_, 5000));
}

TEST_F(PythonCodes, IsNotLookedAtTwiceForOneStack) {
  PythonCode codes(layout_, {});
  codes.begin(5000);
  (void)codes.place(kCode, 0, memory_);
  memory_.reads = 0;
  for (int i = 0; i < 10; ++i) (void)codes.place(kCode, 0, memory_);
  EXPECT_EQ(memory_.reads, 0u);
  ASSERT_EQ(codes.unsure().size(), 1u);
  EXPECT_EQ(codes.unsure()[0].begin.value, kCode);
}

TEST_F(PythonCodes, TheInterpretersOwnInitIsInternal) {
  PythonCode codes(layout_, {{kCode}, {kCode + 0x1000}});
  codes.begin(1);
  EXPECT_FALSE(codes.is_internal(kCode, memory_));
  memory_.ascii(0x95000, layout_, "__init__");
  for (const std::uint32_t at : {layout_.file, layout_.name, layout_.qualified_name})
    memory_.put<std::uint64_t>(kCode + at, 0x95000);
  codes.begin(2);
  EXPECT_TRUE(codes.is_internal(kCode, memory_));
  EXPECT_FALSE(PythonCode(layout_, {}).is_internal(kCode, memory_)) << "a program may call its files so";
}

}  // namespace
}  // namespace fade
