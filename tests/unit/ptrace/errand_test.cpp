#include "ptrace/errand.hpp"

#include <sys/syscall.h>

#include <cstring>
#include <vector>

#include "ptrace/tracees.hpp"

// Spoils all registers that a function may change, and what lies below the stack pointer, then calls the C++ part.
asm(R"(
        .text
        .globl fade_test_spoil
fade_test_spoil:
        push %rbx
        sub $512, %rsp
        mov %rcx, %r10
        mov $64, %ecx
        mov %rsp, %rax
1:      movq $0x77, (%rax)
        add $8, %rax
        loop 1b
        mov %r10, %rcx
        add $512, %rsp
        pcmpeqd %xmm0, %xmm0
        pcmpeqd %xmm7, %xmm7
        pcmpeqd %xmm15, %xmm15
        fldpi
        fstp %st(0)
        call fade_test_note
        mov $-1, %rcx
        mov %rcx, %r8
        mov %rcx, %r9
        mov %rcx, %r10
        mov %rcx, %r11
        mov %rcx, %rdx
        mov %rcx, %rsi
        mov %rcx, %rdi
        pop %rbx
        clc
        ret
)");
extern "C" int fade_test_spoil(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                               std::uint64_t);
extern "C" int fade_test_filled_trap();

namespace {

struct Noted {
  std::atomic<int> calls{0}, ends{0};
  std::atomic<bool> enough{false}, is_aligned{true}, is_blocked{true};
  std::uint64_t arguments[6] = {};
};
Noted* noted;

}  // namespace

extern "C" __attribute__((used)) int fade_test_note(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
                                                    std::uint64_t e, std::uint64_t f) {
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  if (!sigismember(&mask, SIGUSR1) || sigismember(&mask, SIGTRAP)) noted->is_blocked = false;
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 != 0) noted->is_aligned = false;
  const std::uint64_t got[] = {a, b, c, d, e, f};
  std::memcpy(noted->arguments, got, sizeof got);
  ++noted->calls;
  return static_cast<int>(f);
}

namespace fade {
namespace {

using test::address_of;
using test::Child;
using test::Shared;

RemoteAddr address_of_function(int (*function)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                               std::uint64_t, std::uint64_t)) {
  return {reinterpret_cast<std::uint64_t>(function)};
}
RemoteAddr spoil() { return address_of_function(fade_test_spoil); }
int note_end() { return ++noted->ends; }
RemoteAddr end_noter() { return {reinterpret_cast<std::uint64_t>(note_end)}; }

struct ErrandTest : ::testing::Test {
  Shared<Noted> shared;
  const bool is_known = (noted = &*shared) != nullptr;
  const Tracer tracer = test::make_tracer();
  Child child{[] {
    const int carry = fade_test_filled_trap();
    sigset_t set;
    ::sigprocmask(SIG_BLOCK, nullptr, &set);
    return carry == 1 && !sigismember(&set, SIGUSR1) ? 42 : 1;
  }};
  const ProcessMemory memory{child.pid()};
  const Tracee tracee{child.tid()};

  void SetUp() override {
    ASSERT_TRUE(tracer.seize(child.tid(), true));
    child.go();
    ASSERT_EQ(tracer.next_of(child.tid()).signal, SIGTRAP);
  }
  RemoteCall call() const { return {tracer, memory, child.tid(), test::gadgets()}; }
  Errand prepared(std::uint64_t bytes = 100) const {
    auto out = Errand::prepare(call(), bytes);
    EXPECT_TRUE(out);
    Tracer::reap_stop(child.tid());
    return *out;
  }
  // Runs on until the thread has ended, and looks at the errand's plan shortly before.
  Errand::Outcome outcome_of(const Errand& errand) {
    tracee.resume();
    const Stop stop = tracer.next_of(child.tid());
    EXPECT_EQ(stop.kind, Stop::Kind::Exit);
    const auto out = errand.outcome(memory);
    EXPECT_TRUE(out);
    return out.value_or(Errand::Outcome());
  }
  int finish() {
    tracee.resume();
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

TEST_F(ErrandTest, MakesTheCallsAndComesBackAsItWas) {
  const Errand errand = prepared();
  const std::uint64_t there = 0xabcdef;
  ASSERT_TRUE(memory.write(errand.data(), bytes_of(there), child.tid()));
  const ErrandStep steps[] = {{.function = spoil(), .arguments = {1, 2, 3, 4, 5, 0}},
                              {.function = spoil(),
                               .arguments = {11, errand.data().value, 13, 14, errand.data().value, 0},
                               .behind_pointers = 1 << 1 | 1 << 4}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, end_noter()));
  const auto outcome = outcome_of(errand);
  EXPECT_EQ(outcome.plan.state, ErrandPlan::Succeeded);
  EXPECT_EQ(outcome.plan.done_steps, 2u);
  EXPECT_EQ(noted->calls, 2);
  EXPECT_EQ(noted->ends, 1);
  EXPECT_TRUE(noted->is_aligned);
  EXPECT_TRUE(noted->is_blocked);
  EXPECT_EQ(std::vector<std::uint64_t>(noted->arguments, noted->arguments + 6),
            (std::vector<std::uint64_t>{11, there, 13, 14, there, 0}));
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, AFailedCallEndsIt) {
  const Errand errand = prepared();
  const ErrandStep steps[] = {
      {.function = spoil()}, {.function = spoil(), .arguments = {0, 0, 0, 0, 0, 7}}, {.function = spoil()}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, end_noter()));
  const auto outcome = outcome_of(errand);
  EXPECT_EQ(outcome.plan.state, ErrandPlan::Failed);
  EXPECT_EQ(outcome.plan.done_steps, 1u);
  EXPECT_EQ(outcome.result, 7u);
  EXPECT_EQ(noted->calls, 2);
  EXPECT_EQ(noted->ends, 1);
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, ANumberThatMustBeZeroEndsIt) {
  const Errand errand = prepared();
  const std::uint32_t one = 1;
  ASSERT_TRUE(memory.write(errand.word(3), bytes_of(one), child.tid()));
  std::vector<ErrandStep> steps{{.function = spoil(), .must_be_zero = errand.data()},
                                {.function = spoil(), .must_be_zero = errand.data() + 4}};
  ASSERT_TRUE(memory.write(errand.data() + 4, bytes_of(one), child.tid()));
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, {}));
  const auto outcome = outcome_of(errand);
  EXPECT_EQ(outcome.plan.state, ErrandPlan::Failed);
  EXPECT_EQ(outcome.plan.done_steps, 1u);
  EXPECT_EQ(outcome.result, 0u);
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, AFailureOfTheFirstCallLeavesEverything) {
  const Errand errand = prepared();
  const ErrandStep steps[] = {{.function = spoil(), .arguments = {0, 0, 0, 0, 0, 9}}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, end_noter()));
  EXPECT_EQ(outcome_of(errand).result, 9u);
  EXPECT_EQ(noted->ends, 0);
  EXPECT_EQ(finish(), 42);
}

// Fails twice with its sixth argument, and then succeeds.
int third_time(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t result) {
  return ++noted->calls < 3 ? static_cast<int>(result) : 0;
}

TEST_F(ErrandTest, ACallIsMadeAgainWhileThereIsPatience) {
  const Errand errand = prepared();
  const ErrandStep steps[] = {
      {.function = address_of_function(third_time), .arguments = {0, 0, 0, 0, 0, 600}, .again_on = 600}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, {}, std::uint64_t{1} << 40));
  EXPECT_EQ(outcome_of(errand).plan.state, ErrandPlan::Succeeded);
  EXPECT_EQ(noted->calls, 3);
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, PatienceEnds) {
  const Errand errand = prepared();
  const ErrandStep steps[] = {{.function = spoil()},
                              {.function = spoil(), .arguments = {0, 0, 0, 0, 0, 600}, .again_on = 600}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, end_noter(), 1000000));
  const auto outcome = outcome_of(errand);
  EXPECT_EQ(outcome.plan.state, ErrandPlan::Failed);
  EXPECT_EQ(outcome.result, 600u);
  EXPECT_EQ(noted->ends, 1);
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, SignalsWaitForItsEnd) {
  const Errand errand = prepared();
  const ErrandStep steps[] = {{.function = spoil()}};
  ASSERT_TRUE(errand.send(memory, child.tid(), *tracee.registers(), steps, {}));
  ::kill(child.pid().value(), SIGTERM);
  tracee.resume();
  const Stop stop = tracer.next_of(child.tid());
  EXPECT_EQ(stop.signal, SIGTERM);
  EXPECT_EQ(noted->calls, 1);
  EXPECT_EQ(finish(), 42);
}

TEST_F(ErrandTest, ItsMemoryCanBeUnmapped) {
  const Errand errand = prepared(1 << 20);
  EXPECT_TRUE(memory.value<std::uint64_t>(errand.data() + (1 << 20) - 8));
  errand.unmap(call());
  EXPECT_FALSE(memory.value<std::uint64_t>(errand.data()));
  EXPECT_EQ(finish(), 42);
}

// Computes over and over, and says whether everything is as it should be.
int compute_until_enough() {
  const auto work = [](std::uint64_t seed) {
    double sum = 0;
    for (int i = 0; i < 2000; ++i) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      sum = sum * 0.5 + static_cast<double>(seed >> 40);
    }
    return std::pair(seed, sum);
  };
  volatile std::uint64_t seed = 88172645463325252;
  const auto right = work(seed);
  while (!noted->enough)
    if (work(seed) != right) return 1;
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, SIGUSR1) == 0 && sigismember(&mask, SIGTERM) == 0 ? 0 : 2;
}

TEST(ErrandOfADyingTracer, ThreadGoesOnWhereverTheTracerWasKilled) {
  bool killed = true;
  int at = 1, calls = 0;
  for (; killed; ++at) {
    Shared<Noted> shared;
    noted = &*shared;
    Child tracee(compute_until_enough);
    tracee.go();
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      if (!tracer.seize(tracee.tid(), false)) return;
      Tracee(tracee.tid()).interrupt();
      tracer.next_of(tracee.tid());
      const ProcessMemory memory(tracee.pid());
      const RemoteCall call(tracer, memory, tracee.tid(), test::gadgets());
      const auto errand = Errand::prepare(call, 4096);
      if (!errand) return;
      Tracer::reap_stop(tracee.tid());
      const ErrandStep steps[] = {{.function = spoil()}, {.function = spoil()}};
      const auto registers = Tracee(tracee.tid()).registers();
      if (!registers || !errand->send(memory, tracee.tid(), *registers, steps, {})) return;
      Tracee(tracee.tid()).resume();
    });
    noted->enough = true;
    const int status = tracee.wait();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " after system call stop " << at;
    ASSERT_EQ(WEXITSTATUS(status), 0) << "after system call stop " << at;
    calls = noted->calls;
  }
  EXPECT_EQ(calls, 2);
  EXPECT_GT(at, 40);  // there was something to kill
}

}  // namespace
}  // namespace fade
