// Threads of a library made for the test, which work for ever and are stopped anywhere.
#pragma once
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "elf/support.hpp"
#include "stack/native_walk.hpp"
#include "stack/support.hpp"

namespace fade::test {

inline constexpr int kStops = 60;

// Without frame pointers, with registers saved, stacks realigned, frames larger than the window, callbacks from libc.
inline constexpr const char* kLibrary = R"(
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
#include <stdio.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned long leaf(unsigned long n) {
  unsigned long x = n;
  for (unsigned long i = 0; i < 300; ++i) x = x * 2862933555777941757UL + i;
  sink = x;
  return x;
}
__attribute__((noinline)) unsigned long deep(unsigned long n, unsigned long a, unsigned long b, unsigned long c) {
  if (n == 0) return leaf(a + b + c);
  const unsigned long left = deep(n - 1, a ^ n, b + n, c * n);
  return left * a + b * c + leaf(left);
}
__attribute__((noinline)) unsigned long wide(unsigned long n) {
  volatile char big[5000];
  memset((char *)big, (int)n, sizeof big);
  return n == 0 ? leaf(1) : wide(n - 1) + big[n];
}
__attribute__((noinline)) unsigned long aligned(unsigned long n) {
  volatile double lane[8] __attribute__((aligned(64)));
  for (int i = 0; i < 8; ++i) lane[i] = (double)(n + i);
  volatile char variable[1 + n % 7];
  variable[0] = 1;
  return (n == 0 ? leaf(2) : aligned(n - 1)) + (unsigned long)lane[n & 7] + variable[0];
}
static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  sink += leaf((unsigned long)x) & 1;
  return (x > y) - (x < y);
}
__attribute__((noinline)) void sorts(void) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = (i * 7919) % 64;
  qsort(values, 64, sizeof values[0], compare);
}
static void on_signal(int signal) { sink += deep(3, (unsigned long)signal, 2, 3); }
__attribute__((noinline)) void signals(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  sink += deep(2, 1, 2, 3);
}
__attribute__((noinline)) void clocks(void) {
  struct timespec now;
  for (int i = 0; i < 200; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  sink += (unsigned long)now.tv_nsec;
}
__attribute__((noinline)) void stubs(void) {
  char text[64];
  for (int i = 0; i < 50; ++i) sink += strlen(text + snprintf(text, sizeof text, "%d", i)) + (unsigned long)sin(i);
}
__attribute__((noinline)) int through(int (*code)(void (*)(void), unsigned long), void (*last)(void), unsigned long n) {
  volatile char room[40];
  room[0] = (char)n;
  return code(last, n) + room[0];
}
void only_signals(unsigned long turn) { for (unsigned long i = 0; i < turn; ++i) signals(); }
void only_clocks(unsigned long turn) { for (unsigned long i = 0; i < turn; ++i) clocks(); }
void everything(unsigned long turn) {
  sink += deep(turn % 40, 1, 2, 3) + wide(turn % 8) + aligned(turn % 9);
  sorts();
  signals();
  clocks();
  stubs();
}
)";

class Walk : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new elf::test::TemporaryFolder;
    ASSERT_TRUE(elf::test::compile(*folder, "work.c", kLibrary, "libwork.so",
                                   "-shared -fPIC -O2 -fomit-frame-pointer -fno-plt -fno-optimize-sibling-calls -lm"));
    ASSERT_TRUE(elf::test::compile(*folder, "lazy.c", kLibrary, "liblazy.so",
                                   "-shared -fPIC -O2 -fomit-frame-pointer -fplt -Wl,-z,lazy -lm"));
  }
  static void TearDownTestSuite() { delete folder; }

  int work(const std::string& path, const char* what = "everything") {
    void* library = ::dlopen(path.c_str(), RTLD_LAZY);
    const auto part = library ? reinterpret_cast<void (*)(unsigned long)>(::dlsym(library, what)) : nullptr;
    if (!part) return 1;
    ++*working;
    for (unsigned long turn = 0;; ++turn) part(turn);
  }
  // Stops the thread often; what libunwind sees must be what we see. Now and then (in the vDSO, in a lazy binding) it
  // is libunwind that goes astray: then it had to guess, or does not come to where the thread began.
  static void compare(Stopped& thread, CodeMap& code) {
    const Oracle oracle(thread.tid());
    std::size_t deepest = 0;
    int compared = 0;
    for (int i = 0; i < kStops; ++i) {
      ASSERT_TRUE(thread.stop());
      NativeWalk::End end;
      const auto ours = thread.frames(code, end);
      bool has_guessed = false;
      const auto theirs = oracle.frames(4096, &has_guessed);
      // Behind the `pop %rbp` of aligned() its rules say that rbp is still to be found: whoever believes them may get
      // no further.
      EXPECT_TRUE(end == NativeWalk::End::Bottom || ours == theirs)
          << "ours:  " << shown(ours) << "\ntheirs:" << shown(theirs);
      if (!has_guessed && !ours.empty() && !theirs.empty() && ours.back() == theirs.back()) {
        ++compared;
        EXPECT_EQ(ours, theirs) << "ours:  " << shown(ours) << "\ntheirs:" << shown(theirs);
      }
      deepest = std::max(deepest, ours.size());
      thread.go_on_for(std::chrono::microseconds(i % 7 * 300));
    }
    EXPECT_GT(deepest, 4U);
    EXPECT_GT(compared, kStops / 2);  // not where the vDSO takes long
  }
  // Until it stands in a place of that kind, where the work is going on for ever.
  template <class Is>
  static bool stop_where(Stopped& thread, CodeMap& code, Is&& is) {
    return eventually([&] {
      if (!thread.stop()) return true;
      NativeWalk::End end;
      if (is(thread.frames(code, end))) return true;
      thread.go();
      return false;
    });
  }

  // What is loaded later a CodeMap has to be told.
  void await_work(Stopped& thread) {
    ASSERT_TRUE(eventually([&] {
      EXPECT_TRUE(thread.stop());
      thread.go();
      return *working == 1;
    }));
  }

  static inline elf::test::TemporaryFolder* folder = nullptr;
  const Shared<std::atomic<int>> working;  // processes that have loaded what they work with
};

}  // namespace fade::test
