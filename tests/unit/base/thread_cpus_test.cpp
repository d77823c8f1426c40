#include "base/thread_cpus.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/event_queue.hpp"

namespace fade {
namespace {

cpu_set_t cpus_of(pid_t tid) {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(tid, sizeof set, &set), 0);
  return set;
}

bool may_use(pid_t tid, int cpu) {
  const cpu_set_t set = cpus_of(tid);
  return CPU_ISSET(static_cast<unsigned>(cpu), &set);
}

int a_cpu() {
  const cpu_set_t set = cpus_of(0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) return cpu;
  return -1;
}

TEST(ThreadCpus, OnlyOneThenAllButOneThenThoseOfBefore) {
  const cpu_set_t before = cpus_of(0);
  const int cpu = a_cpu();
  ThreadCpus own;
  ASSERT_TRUE(own.only(cpu));
  const cpu_set_t one = cpus_of(0);
  EXPECT_EQ(CPU_COUNT(&one), 1);
  EXPECT_TRUE(may_use(0, cpu));
  if (CPU_COUNT(&before) > 1) {
    ASSERT_TRUE(own.all_but(cpu));
    const cpu_set_t others = cpus_of(0);
    EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&before) - 1);
    EXPECT_FALSE(may_use(0, cpu));
  }
  own.restore();
  const cpu_set_t after = cpus_of(0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(ThreadCpus, WhatIsNoCpuOrTheOnlyOneChangesNothing) {
  const int cpu = a_cpu();
  ThreadCpus outer;
  ASSERT_TRUE(outer.only(cpu));
  ThreadCpus own;
  EXPECT_FALSE(own.all_but(cpu));
  EXPECT_FALSE(own.only(-1));
  EXPECT_FALSE(own.only(CPU_SETSIZE));
  EXPECT_TRUE(may_use(0, cpu));
  outer.restore();
}

TEST(EventQueue, WhoReadsIsKeptOffTheCpuThatTheTracingThreadKeepsTo) {
  const cpu_set_t all = cpus_of(0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  const int cpu = a_cpu();
  EventQueue queue;
  std::promise<pid_t> came;
  std::promise<void> done;
  std::thread reader([&] {
    Batch batch;
    queue.take(batch, std::chrono::milliseconds(0));
    came.set_value(::gettid());
    done.get_future().wait();
  });
  const pid_t tid = came.get_future().get();
  queue.keeps_to(cpu);
  EXPECT_FALSE(may_use(tid, cpu));
  EXPECT_TRUE(may_use(0, cpu));
  queue.keeps_to(-1);
  EXPECT_TRUE(may_use(tid, cpu));
  done.set_value();
  reader.join();
}

}  // namespace
}  // namespace fade
