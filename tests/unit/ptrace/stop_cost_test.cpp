#include "ptrace/stop_cost.hpp"

#include <sched.h>
#include <sys/wait.h>

#include <array>

#include "ptrace/tracees.hpp"

extern "C" int fade_calling_child(void* tracer);

namespace fade {
namespace {

using test::Child;

constexpr std::chrono::seconds kLong{60};

struct StopCostTest : ::testing::Test {
  const Tracer tracer = test::make_tracer(std::chrono::milliseconds(50));
};

TEST_F(StopCostTest, MeasuresBothFormsOfEntry) {
  const auto costs = measure_stops(tracer, {.calls = 50, .time = kLong, .most = kLong});
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  for (const StopCosts& form : {costs->jump, costs->int3}) {
    EXPECT_EQ(form.calls, 50u);
    EXPECT_GT(form.stop.median, 0);
    EXPECT_GE(form.call.median, form.stop.median);  // begins one reading of the clock earlier
    EXPECT_GE(form.call.spread, 0);
    EXPECT_GT(form.run_ns, 0);
  }
}

TEST_F(StopCostTest, MeasuresAThreadOnAnotherCpu) {
  const auto costs = measure_stops(tracer, {.calls = 20, .time = kLong, .calls_apart = 10, .most = kLong});
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  cpu_set_t cpus;
  ASSERT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
  EXPECT_EQ(costs->apart.calls, CPU_COUNT(&cpus) > 1 ? 10u : 0u);
}

TEST_F(StopCostTest, MeasuresNoOtherCpuIfThereIsNone) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const auto costs = measure_stops(tracer, {.calls = 20, .time = kLong, .most = kLong});
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  EXPECT_EQ(costs->apart.calls, 0u);
}

TEST_F(StopCostTest, IsContentWithFewerCallsWhereTimeIsShort) {
  const auto costs = measure_stops(tracer, {.calls = 1'000'000, .time = std::chrono::nanoseconds(1), .most = kLong});
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  EXPECT_GT(costs->jump.calls, 0u);
  EXPECT_LT(costs->jump.calls, 1000u);
}

// Beside many programs each of its stops waits for a CPU, and the user's program waits for all of them.
TEST_F(StopCostTest, EndsSoonWhereItsStopsWaitForACpu) {
  const auto costs = measure_stops(tracer, {.calls = 1'000'000, .most = std::chrono::nanoseconds(1)});
  ASSERT_TRUE(costs.has_value()) << costs.error().text();
  EXPECT_EQ(costs->jump.calls, 1u);
  EXPECT_EQ(costs->int3.calls, 1u);
  EXPECT_EQ(costs->apart.calls, 0u);
}

// It would ask the process that has adopted it for a tracer, and stand still for ever.
TEST_F(StopCostTest, TheChildEndsIfItsTracerHasDied) {
  alignas(16) std::array<std::byte, 1024> stack;
  const int child = ::clone(fade_calling_child, stack.data() + stack.size(), 0, nullptr);
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, __WALL), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
}

TEST_F(StopCostTest, LeavesNothingBehind) {
  cpu_set_t cpus_before, cpus_after;
  sigset_t signals_before, signals_after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof cpus_before, &cpus_before), 0);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &signals_before);
  ASSERT_TRUE(measure_stops(tracer));
  EXPECT_EQ(::waitpid(-1, nullptr, __WALL | WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  ASSERT_EQ(::sched_getaffinity(0, sizeof cpus_after, &cpus_after), 0);
  EXPECT_TRUE(CPU_EQUAL(&cpus_before, &cpus_after));
  ::pthread_sigmask(SIG_BLOCK, nullptr, &signals_after);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(::sigismember(&signals_before, signal), ::sigismember(&signals_after, signal)) << signal;
}

TEST_F(StopCostTest, TakesNoStopOfAnotherTracee) {
  Child child([] { return 7; });
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  ASSERT_TRUE(Tracee(child.tid()).interrupt());
  ASSERT_TRUE(measure_stops(tracer));
  const Stop stop = tracer.next();
  EXPECT_EQ(stop.tid, child.tid());
  EXPECT_EQ(stop.kind, Stop::Kind::Trap);
  ASSERT_TRUE(Tracee(child.tid()).resume());
  child.go();
  EXPECT_EQ(tracer.next().kind, Stop::Kind::Exit);
  Tracee(child.tid()).resume();
  EXPECT_EQ(tracer.next().status, 7);
  child.was_reaped();
}

}  // namespace
}  // namespace fade
