#include "supervisor/heard_signals.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

constexpr pid_t kSender = 4711;
constexpr std::int64_t kLater = HeardSignals::kMerge + 1;

SignalKey key(int signal, pid_t sender = kSender) { return {signal, SI_USER, Pid::of(sender)}; }
SignalNote note(const SignalKey& key, std::int64_t when) { return {.key = key, .when = when}; }

TEST(HeardSignals, OneThatWasHeardAnswersForOneNote) {
  HeardSignals heard;
  heard.hear(key(SIGTERM), 0);
  EXPECT_TRUE(heard.answers_for(note(key(SIGTERM), kLater)));
  EXPECT_FALSE(heard.answers_for(note(key(SIGTERM), kLater)));
}

TEST(HeardSignals, ASignalIsItsNumberItsCodeAndItsSender) {
  HeardSignals heard;
  heard.hear(key(SIGTERM), 0);
  EXPECT_FALSE(heard.answers_for(note(key(SIGINT), 0)));
  EXPECT_FALSE(heard.answers_for(note(key(SIGTERM, kSender + 1), 0)));
  EXPECT_FALSE(heard.answers_for(note({SIGTERM, SI_QUEUE, kSender}, 0)));
  EXPECT_TRUE(heard.answers_for(note(key(SIGTERM), 0)));
}

// The kernel has one pending signal of a number for each process: the witness hears one where fade-run hears two, and
// the reverse.
TEST(HeardSignals, SignalsOfOneMomentAreOne) {
  HeardSignals heard;
  heard.hear(key(SIGTERM), 0);
  for (const std::int64_t when : {std::int64_t{0}, HeardSignals::kMerge})
    EXPECT_TRUE(heard.answers_for(note(key(SIGTERM), when)));
  heard.hear(key(SIGTERM), 0);
  heard.hear(key(SIGTERM), 1);
  EXPECT_TRUE(heard.answers_for(note(key(SIGTERM), kLater + 1)));
  EXPECT_FALSE(heard.answers_for(note(key(SIGTERM), kLater + 2)));
}

TEST(HeardSignals, RealTimeSignalsAreCounted) {
  HeardSignals heard;
  heard.hear(key(SIGRTMIN), 0);
  heard.hear(key(SIGRTMIN), 0);
  for (const bool answers : {true, true, false}) EXPECT_EQ(heard.answers_for(note(key(SIGRTMIN), 0)), answers);
}

TEST(HeardSignals, ForgetsTheOldestOfTooMany) {
  HeardSignals heard;
  constexpr int kMany = 1000;
  for (int i = 1; i <= kMany; ++i) heard.hear(key(SIGTERM, i), i);
  EXPECT_FALSE(heard.answers_for(note(key(SIGTERM, 1), kMany)));
  for (int i = kMany - 50; i <= kMany; ++i) EXPECT_TRUE(heard.answers_for(note(key(SIGTERM, i), kMany))) << i;
}

}  // namespace
}  // namespace fade
