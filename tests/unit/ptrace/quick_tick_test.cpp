// Ticks beside those of the Tracer. The handler of the test takes the signal, and counts.
#include "ptrace/quick_tick.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <thread>

namespace fade {
namespace {

using std::chrono::milliseconds;

std::atomic<int> ticks;
std::atomic<std::thread::id> ticked;

void on_alarm(int) {
  ++ticks;
  ticked = std::this_thread::get_id();
}

struct QuickTickTest : testing::Test {
  QuickTickTest() {
    struct sigaction count {};
    count.sa_handler = on_alarm;
    ::sigaction(SIGALRM, &count, &before);
    ticks = 0;
  }
  ~QuickTickTest() override { ::sigaction(SIGALRM, &before, nullptr); }
  // Sleeps until so many ticks have come. A signal ends a sleep early.
  static void wait_for(int n) {
    while (ticks < n) sleep_for(milliseconds(1000));
  }
  // Returns true if a signal has ended the sleep.
  static bool sleep_for(milliseconds time) {
    const timespec some{.tv_sec = time.count() / 1000, .tv_nsec = time.count() % 1000 * 1'000'000};
    return ::nanosleep(&some, nullptr) != 0;
  }
  struct sigaction before {};
};

TEST_F(QuickTickTest, TicksComeAgainAndAgainToTheThreadThatAsked) {
  QuickTick tick;
  tick.every(milliseconds(1));
  wait_for(5);
  EXPECT_EQ(ticked.load(), std::this_thread::get_id());
}

TEST_F(QuickTickTest, AnotherPeriodTakesThePlaceOfTheFirst) {
  QuickTick tick;
  tick.every(milliseconds(3'600'000));
  EXPECT_EQ(ticks, 0);
  tick.every(milliseconds(1));
  wait_for(2);
}

// A tick that was on its way may still come.
TEST_F(QuickTickTest, NoneComesAfterZero) {
  QuickTick tick;
  tick.every(milliseconds(1));
  wait_for(1);
  tick.every(milliseconds(0));
  ticks = 0;
  EXPECT_FALSE(sleep_for(milliseconds(30)));
  EXPECT_EQ(ticks, 0);
  tick.every(milliseconds(1));
  wait_for(1);
}

TEST_F(QuickTickTest, NoneComesWithoutARequest) {
  {
    QuickTick tick;
    tick.every(milliseconds(0));
    QuickTick other;
    other.every(milliseconds(1));
    wait_for(1);
  }
  ticks = 0;
  EXPECT_FALSE(sleep_for(milliseconds(20)));
  EXPECT_EQ(ticks, 0);
}

}  // namespace
}  // namespace fade
