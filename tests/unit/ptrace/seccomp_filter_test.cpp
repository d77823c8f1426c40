#include "ptrace/seccomp_filter.hpp"

#include <linux/audit.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using Filter = std::vector<sock_filter>;
using test::Child;
using ::testing::HasSubstr;

constexpr std::uint32_t kNumberAt = offsetof(seccomp_data, nr), kArchitectureAt = offsetof(seccomp_data, arch);
constexpr std::uint32_t argument_at(std::size_t i) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * i);
}

sock_filter statement(int code, std::uint32_t k) { return BPF_STMT(static_cast<std::uint16_t>(code), k); }
sock_filter jump(int code, std::uint32_t k, int then, int otherwise) {
  return BPF_JUMP(static_cast<std::uint16_t>(code), k, static_cast<std::uint8_t>(then),
                  static_cast<std::uint8_t>(otherwise));
}
sock_filter load(std::uint32_t at) { return statement(BPF_LD | BPF_W | BPF_ABS, at); }
sock_filter answer(std::uint32_t value) { return statement(BPF_RET | BPF_K, value); }

seccomp_data call(long number, std::uint64_t third = 0) {
  return {.nr = static_cast<int>(number),
          .arch = AUDIT_ARCH_X86_64,
          .instruction_pointer = 0,
          .args = {1, 2, third, 4, 5, 6}};
}

// A program that leaves something in the accumulator answers it.
std::optional<std::uint32_t> result(Filter filter, const seccomp_data& about = call(SYS_mmap)) {
  filter.push_back(statement(BPF_RET | BPF_A, 0));
  return answer_of(filter, about);
}

TEST(SeccompAnswer, LooksAtNumberArchitectureAndArguments) {
  const Filter only_mmap_for_reading{load(kArchitectureAt),
                                     jump(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
                                     answer(SECCOMP_RET_KILL_PROCESS),
                                     load(kNumberAt),
                                     jump(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
                                     answer(SECCOMP_RET_ERRNO | EPERM),
                                     load(argument_at(2)),
                                     jump(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                                     answer(SECCOMP_RET_TRAP),
                                     answer(SECCOMP_RET_ALLOW)};
  EXPECT_EQ(answer_of(only_mmap_for_reading, call(SYS_mmap, PROT_READ)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer_of(only_mmap_for_reading, call(SYS_mmap, PROT_READ | PROT_EXEC)), SECCOMP_RET_TRAP);
  EXPECT_EQ(answer_of(only_mmap_for_reading, call(SYS_read)), SECCOMP_RET_ERRNO | EPERM);
  seccomp_data other = call(SYS_mmap);
  other.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(answer_of(only_mmap_for_reading, other), SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompAnswer, BothHalvesOfAnArgument) {
  EXPECT_EQ(result({load(argument_at(2))}, call(1, 0x1122334455667788)), 0x55667788u);
  EXPECT_EQ(result({load(argument_at(2) + 4)}, call(1, 0x1122334455667788)), 0x11223344u);
}

TEST(SeccompAnswer, Computes) {
  const auto computed = [](int operation, std::uint32_t a, std::uint32_t b) {
    return result({statement(BPF_LD | BPF_IMM, a), statement(BPF_ALU | BPF_K | operation, b)});
  };
  EXPECT_EQ(computed(BPF_ADD, 0xffffffff, 2), 1u);
  EXPECT_EQ(computed(BPF_SUB, 1, 2), 0xffffffffu);
  EXPECT_EQ(computed(BPF_MUL, 7, 6), 42u);
  EXPECT_EQ(computed(BPF_DIV, 42, 5), 8u);
  EXPECT_EQ(computed(BPF_AND, 0xff0f, 0x0ff0), 0x0f00u);
  EXPECT_EQ(computed(BPF_OR, 0xf0, 0x0f), 0xffu);
  EXPECT_EQ(computed(BPF_XOR, 0xff, 0x0f), 0xf0u);
  EXPECT_EQ(computed(BPF_LSH, 1, 31), 0x80000000u);
  EXPECT_EQ(computed(BPF_RSH, 0x80000000, 31), 1u);
  EXPECT_EQ(computed(BPF_NEG, 1, 0), 0xffffffffu);
}

TEST(SeccompAnswer, ComparesWithoutSign) {
  const auto holds = [](int condition, std::uint32_t a, std::uint32_t b) {
    return answer_of(
               Filter{statement(BPF_LD | BPF_IMM, a), jump(BPF_JMP | BPF_K | condition, b, 1, 0), answer(0), answer(1)},
               call(1)) == 1u;
  };
  EXPECT_TRUE(holds(BPF_JGT, 0xffffffff, 1));
  EXPECT_FALSE(holds(BPF_JGT, 1, 1));
  EXPECT_TRUE(holds(BPF_JGE, 1, 1));
  EXPECT_FALSE(holds(BPF_JGE, 0, 1));
  EXPECT_TRUE(holds(BPF_JEQ, 3, 3));
  EXPECT_TRUE(holds(BPF_JSET, 6, 2));
  EXPECT_FALSE(holds(BPF_JSET, 6, 1));
}

TEST(SeccompAnswer, RegisterXAndMemory) {
  EXPECT_EQ(result({statement(BPF_LD | BPF_IMM, 5), statement(BPF_ST, 3), statement(BPF_LDX | BPF_MEM, 3),
                    statement(BPF_LD | BPF_IMM, 2), statement(BPF_ALU | BPF_ADD | BPF_X, 0)}),
            7u);
  EXPECT_EQ(result({statement(BPF_LDX | BPF_IMM, 9), statement(BPF_STX, 0), statement(BPF_LD | BPF_MEM, 0)}), 9u);
  EXPECT_EQ(result({statement(BPF_LD | BPF_IMM, 4), statement(BPF_MISC | BPF_TAX, 0), statement(BPF_LD | BPF_IMM, 0),
                    statement(BPF_MISC | BPF_TXA, 0)}),
            4u);
  EXPECT_EQ(result({statement(BPF_LD | BPF_W | BPF_LEN, 0)}), sizeof(seccomp_data));
  EXPECT_EQ(result({statement(BPF_JMP | BPF_JA, 1), answer(1), statement(BPF_LD | BPF_IMM, 2)}), 2u);
}

TEST(SeccompAnswer, WhatTheKernelWouldNotTakeHasNone) {
  EXPECT_FALSE(answer_of({}, call(1)));
  EXPECT_FALSE(answer_of(Filter{load(kNumberAt)}, call(1)));  // does not end with an answer
  EXPECT_FALSE(result({load(2)}));                            // unaligned
  EXPECT_FALSE(result({load(sizeof(seccomp_data))}));         // behind the data
  EXPECT_FALSE(result({statement(BPF_LD | BPF_MEM, BPF_MEMWORDS)}));
  EXPECT_FALSE(result({statement(BPF_ST, 1000)}));
  EXPECT_FALSE(result({statement(BPF_ALU | BPF_DIV | BPF_K, 0)}));
  EXPECT_FALSE(result({statement(BPF_ALU | 0xf0 | BPF_K, 1)}));
  EXPECT_FALSE(result({jump(BPF_JMP | 0xf0 | BPF_K, 1, 0, 0)}));
  EXPECT_FALSE(result({statement(BPF_JMP | BPF_JA, 0xffffffff)}));  // far behind the end
  EXPECT_FALSE(result({jump(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 255)}));
}

// ---------------------------------------------------------------- of a real thread

constexpr PlannedCall kCalls[] = {{"mmap", SYS_mmap, {0, 0, PROT_READ | PROT_EXEC}}, {"munmap", SYS_munmap}};

bool install(Filter filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Filter all_but(long number, std::uint32_t action) {
  return {load(kNumberAt), jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1), answer(action),
          answer(SECCOMP_RET_ALLOW)};
}

struct MayCall : ::testing::Test {
  const Tracer tracer = test::make_tracer();
  std::unique_ptr<Child> child;

  // What a child may do that first runs `prepare`.
  Result<void> of(const std::function<bool()>& prepare) {
    child = std::make_unique<Child>([&] {
      if (!prepare()) return 1;
      ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGUSR1);
      return 0;
    });
    if (!tracer.seize(child->tid(), true)) return fail("cannot be traced");
    child->go();
    const Stop stop = tracer.next_of(child->tid());
    if (stop.kind != Stop::Kind::Signal || stop.signal != SIGUSR1) return fail("did not get so far");
    return may_call(child->tid(), kCalls);
  }
};

TEST_F(MayCall, WithoutFilterEverything) {
  EXPECT_TRUE(of([] { return true; }));
}

TEST_F(MayCall, AFilterThatForbidsSomethingElse) {
  EXPECT_TRUE(of([] {
    return install(all_but(SYS_mount, SECCOMP_RET_KILL_PROCESS)) && install(all_but(SYS_mmap, SECCOMP_RET_LOG));
  }));
}

TEST_F(MayCall, EveryFilterCounts) {
  const auto allowed = of([] {
    return install(all_but(SYS_munmap, SECCOMP_RET_KILL_PROCESS)) &&
           install(all_but(SYS_mount, SECCOMP_RET_ERRNO | EPERM));
  });
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error().code, ENOTSUP);
  EXPECT_THAT(allowed.error().message, HasSubstr("munmap"));
}

TEST_F(MayCall, WhatFailsIsForbiddenToo) {
  for (const std::uint32_t action :
       {std::uint32_t{SECCOMP_RET_ERRNO | EPERM}, SECCOMP_RET_TRAP, SECCOMP_RET_TRACE, SECCOMP_RET_KILL_THREAD})
    EXPECT_FALSE(of([action] { return install(all_but(SYS_mmap, action)); })) << action;
}

TEST(MayCallStrictly, StrictModeAllowsNothing) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Child child([&] {
    char byte;
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0 && ::read(ends[0], &byte, 1) == 1 ? 0 : 1;
  });
  const Tracer tracer = test::make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  ASSERT_TRUE(test::eventually([&] { return read_seccomp_state(child.tid()).mode == SECCOMP_MODE_STRICT; }));
  Tracee(child.tid()).interrupt();
  ASSERT_EQ(tracer.next_of(child.tid()).kind, Stop::Kind::Trap);
  const auto allowed = may_call(child.tid(), kCalls);
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error().code, ENOTSUP);
  EXPECT_THAT(allowed.error().message, HasSubstr("strict"));
}

TEST(SeccompState, OfAProcessWithTwoFilters) {
  EXPECT_EQ(read_seccomp_state(0x7ffffff0), SeccompState{});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Child child([&] {
    if (!install(all_but(SYS_mount, SECCOMP_RET_TRAP)) || !install(all_but(SYS_umount2, SECCOMP_RET_TRAP))) return 1;
    char byte = 0;
    return ::write(ends[1], "", 1) == 1 && ::pause() < 0 && ::read(ends[0], &byte, 1) == 1 ? 0 : 1;
  });
  child.go();
  char ready;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  const SeccompState ours = read_seccomp_state(leader_of(own_pid())), theirs = read_seccomp_state(child.tid());
  EXPECT_EQ(theirs.mode, SECCOMP_MODE_FILTER);
  EXPECT_EQ(theirs.filters, ours.filters + 2);
}

}  // namespace
}  // namespace fade
