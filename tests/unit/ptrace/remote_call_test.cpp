#include "ptrace/remote_call.hpp"

#include <sys/syscall.h>

#include "ptrace/tracees.hpp"

// Fills registers and the red zone with values of its own and stops.
asm(R"(
        .text
        .globl fade_test_filled_trap
fade_test_filled_trap:
        push %rbx
        push %r12
        movabs $0x1111222233334444, %rbx
        movabs $0x5555666677778888, %r12
        movq %rbx, %xmm0
        movq %r12, %xmm15
        mov %rbx, -8(%rsp)
        mov %r12, -128(%rsp)
        stc
        int3
        setc %al
        movzbl %al, %eax
        cmp %rbx, -8(%rsp)
        jne 1f
        cmp %r12, -128(%rsp)
        jne 1f
        movq %xmm15, %rcx
        cmp %r12, %rcx
        jne 1f
        pop %r12
        pop %rbx
        ret
1:      ud2
)");
extern "C" int fade_test_filled_trap();

namespace fade {
namespace {

using test::Child;
using test::Shared;

struct RemoteCallTest : ::testing::Test {
  const Tracer tracer = test::make_tracer();
  Child child{[] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    const int carry = fade_test_filled_trap();
    ::sigprocmask(SIG_BLOCK, nullptr, &set);
    return carry == 1 && sigismember(&set, SIGUSR2) && !sigismember(&set, SIGUSR1) ? 42 : 1;
  }};
  const ProcessMemory memory{child.pid()};
  const Tracee tracee{child.tid()};

  void SetUp() override {
    ASSERT_TRUE(tracer.seize(child.tid(), true));
    child.go();
    const Stop stop = tracer.next_of(child.tid());
    ASSERT_EQ(stop.signal, SIGTRAP);
  }
  RemoteCall call() const { return {tracer, memory, child.tid(), test::gadgets()}; }
  std::vector<std::byte> red_zone() const {
    std::vector<std::byte> out(128);
    EXPECT_TRUE(memory.read_exactly(tracee.registers()->sp() - 128, out));
    return out;
  }
  int finish() {
    tracee.resume();
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

TEST_F(RemoteCallTest, ReturnsWhatTheKernelSays) {
  EXPECT_EQ(call().syscall(SYS_getpid, {}), child.pid().value());
  EXPECT_EQ(call().syscall(SYS_close, {9999}), -EBADF);
  const auto mapped = call().syscall(SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0});
  ASSERT_TRUE(mapped && *mapped > 0);
  EXPECT_EQ(memory.value<std::uint64_t>({static_cast<std::uint64_t>(*mapped)}), 0u);
  EXPECT_EQ(finish(), 42);
}

TEST_F(RemoteCallTest, LeavesTheThreadAsItWas) {
  const auto registers = tracee.registers();
  const auto state = tracee.extended_state();
  const auto mask = tracee.signal_mask();
  const auto below = red_zone();
  ASSERT_TRUE(call().syscall(SYS_getpid, {1, 2, 3, 4, 5, 6}));
  const auto after = tracee.registers();
  ASSERT_TRUE(registers && after);
  EXPECT_EQ(std::memcmp(&*registers, &*after, sizeof(user_regs_struct)), 0);
  EXPECT_EQ(tracee.extended_state(), state);
  EXPECT_EQ(tracee.signal_mask(), mask);
  EXPECT_EQ(red_zone(), below);
  EXPECT_EQ(finish(), 42);
}

TEST_F(RemoteCallTest, LeavesWhatLiesBelowTheStackAsItWas) {
  std::vector<std::byte> before(32 * 1024), after(before.size());
  const RemoteAddr from = tracee.registers()->sp() - 128 - before.size();  // below the red zone
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(i * 7 + 1);
  ASSERT_TRUE(memory.write(from, before, child.tid()));
  EXPECT_EQ(call().syscall(SYS_getpid, {}), child.pid().value());
  ASSERT_TRUE(memory.read_exactly(from, after));
  EXPECT_EQ(before, after);
  EXPECT_EQ(finish(), 42);
}

TEST_F(RemoteCallTest, SignalsThatComeMeanwhileAreDeliveredAfterwards) {
  ::kill(child.pid().value(), SIGTERM);
  EXPECT_EQ(call().syscall(SYS_getpid, {}), child.pid().value());
  tracee.resume();
  const Stop stop = tracer.next_of(child.tid());
  EXPECT_EQ(stop.kind, Stop::Kind::Signal);
  EXPECT_EQ(stop.signal, SIGTERM);
  EXPECT_EQ(finish(), 42);
}

TEST_F(RemoteCallTest, StopSignalIsNotLost) {
  ::kill(child.pid().value(), SIGSTOP);
  EXPECT_EQ(call().syscall(SYS_getpid, {}), child.pid().value());
  tracee.resume();
  EXPECT_EQ(tracer.next_of(child.tid()).signal, SIGSTOP);
  EXPECT_EQ(finish(), 42);
}

TEST_F(RemoteCallTest, DeadThreadHasNoAnswer) {
  ::kill(child.pid().value(), SIGKILL);
  EXPECT_FALSE(call().syscall(SYS_getpid, {}));
}

TEST_F(RemoteCallTest, UnusableStackLeavesTheRegisters) {
  auto registers = *tracee.registers();
  const auto kept = registers.rsp;
  registers.rsp = 0x1000;
  ASSERT_TRUE(tracee.set_registers(registers));
  EXPECT_FALSE(call().syscall(SYS_getpid, {}));
  EXPECT_EQ(tracee.registers()->rsp, 0x1000u);
  registers.rsp = kept;
  tracee.set_registers(registers);
  EXPECT_EQ(finish(), 42);
}

// Computes over and over, in all sorts of registers, and says whether everything is as it should be.
int compute_until(const std::atomic<bool>& enough) {
  sigset_t before, after;
  ::sigprocmask(SIG_BLOCK, nullptr, &before);
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
  while (!enough)
    if (work(seed) != right) return 1;
  ::sigprocmask(SIG_BLOCK, nullptr, &after);
  return sigismember(&before, SIGUSR1) == sigismember(&after, SIGUSR1) &&
                 sigismember(&before, SIGTERM) == sigismember(&after, SIGTERM)
             ? 0
             : 2;
}

TEST(RemoteCallOfADyingTracer, ThreadGoesOnWhereverTheTracerWasKilled) {
  bool killed = true;
  int at = 1;
  for (; killed; ++at) {
    Shared<std::atomic<bool>> enough;
    Child tracee([&] { return compute_until(*enough); });
    tracee.go();
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      if (!tracer.seize(tracee.tid(), false)) return;
      Tracee(tracee.tid()).interrupt();
      tracer.next_of(tracee.tid());
      const ProcessMemory memory(tracee.pid());
      if (RemoteCall(tracer, memory, tracee.tid(), test::gadgets()).syscall(SYS_getpid, {}) != tracee.pid().value())
        return;
      Tracee(tracee.tid()).resume();
    });
    *enough = true;
    const int status = tracee.wait();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " after system call stop " << at;
    ASSERT_EQ(WEXITSTATUS(status), 0) << "after system call stop " << at;
  }
  EXPECT_GT(at, 20);  // there was something to kill
}

struct Waiting {
  std::atomic<bool> is_there{false}, enough{false};
};

// As a program at its first instruction: what registers and red zone hold does not matter, its signal mask does.
int wait_with_free_registers(Waiting& waiting) {
  sigset_t before, after;
  ::sigprocmask(SIG_SETMASK, nullptr, &before);
  asm volatile("sub $128, %%rsp; movb $1, (%1); 1: cmpb $0, (%0); je 1b; add $128, %%rsp" ::"b"(&waiting.enough),
               "r"(&waiting.is_there)
               : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  ::sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal)
    if (::sigismember(&before, signal) != ::sigismember(&after, signal)) return signal;
  return 0;
}

TEST(RemoteCallOfADyingTracer, FirstCallInAProgramLeavesItsMask) {
  bool killed = true;
  int at = 1;
  for (; killed; ++at) {
    Shared<Waiting> waiting;
    Child tracee([&] { return wait_with_free_registers(*waiting); });
    tracee.go();
    ASSERT_TRUE(test::eventually([&] { return waiting->is_there.load(); }));
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      if (!tracer.seize(tracee.tid(), false)) return;
      Tracee(tracee.tid()).interrupt();
      tracer.next_of(tracee.tid());
      const ProcessMemory memory(tracee.pid());
      if (RemoteCall(tracer, memory, tracee.tid(), {test::gadgets().syscall_ret, {}}).syscall(SYS_getpid, {}) !=
          tracee.pid().value())
        return;
      Tracee(tracee.tid()).resume();
    });
    waiting->enough = true;
    const int status = tracee.wait();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " after system call stop " << at;
    ASSERT_EQ(WEXITSTATUS(status), 0) << "after system call stop " << at << ": the number of a signal that was blocked";
  }
  EXPECT_GT(at, 12);  // there was something to kill
}

// It cannot be blocked there, or it would stay so.
TEST(RemoteCallOfADyingTracer, SignalsOfTheFirstCallComeAfterwards) {
  Shared<Waiting> waiting;
  Child tracee([&] { return wait_with_free_registers(*waiting); });
  tracee.go();
  ASSERT_TRUE(test::eventually([&] { return waiting->is_there.load(); }));
  const Tracer tracer = test::make_tracer();
  ASSERT_TRUE(tracer.seize(tracee.tid(), false));
  Tracee(tracee.tid()).interrupt();
  ASSERT_EQ(tracer.next_of(tracee.tid()).kind, Stop::Kind::Trap);
  ::kill(tracee.pid().value(), SIGTERM);
  const ProcessMemory memory(tracee.pid());
  EXPECT_EQ(RemoteCall(tracer, memory, tracee.tid(), {test::gadgets().syscall_ret, {}}).syscall(SYS_getpid, {}),
            tracee.pid().value());
  Tracee(tracee.tid()).resume();
  const Stop stop = tracer.next_of(tracee.tid());
  EXPECT_EQ(stop.signal, SIGTERM);
  Tracee(tracee.tid()).detach(SIGTERM);
  const int status = tracee.wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

}  // namespace
}  // namespace fade
