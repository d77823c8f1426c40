// Functions that are called through a tap behave as they do without one, and every call is in the ring.
#include "tap/stub.hpp"

#include <setjmp.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "rig.hpp"

namespace fade::tap::test {
namespace {

using Word64 = std::uint64_t;

Word64 mixed(Word64 a, Word64 b, Word64 c, Word64 d, Word64 e, Word64 f, Word64 g, Word64 h, Word64 i, Word64 j,
             Word64 k, Word64 l) {
  Word64 sum = 0;
  for (const Word64 word : {a, b, c, d, e, f, g, h, i, j, k, l}) sum = sum * 31 + word;
  return sum;
}
Word64 three(Word64 a, Word64 b, Word64 c) { return a + 2 * b + 3 * c; }
__extension__ typedef unsigned __int128 Wide;
Wide wide(Word64 low, Word64 high) { return static_cast<Wide>(high) << 64 | low; }
double halves(double a, float b, int c) { return a / 2 + static_cast<double>(b) / 2 + c; }
long double longer(long double a) { return a * 2; }
struct Two {
  Word64 first;
  double second;
};
Two both(Word64 a, double b) { return {a + 1, b + 1}; }
int gives_two(Word64 first, Word64* out) {
  if (out == nullptr) return 0;
  out[0] = first;
  out[1] = first + 1;
  return 0;
}
int gives(Word64* out, Word64 value) {
  if (value == 0) return 5;
  *out = value;
  return 0;
}
int throws(int what) {
  if (what != 0) throw std::runtime_error("through the tap");
  return 0;
}
jmp_buf to;
int jumps(int what) {
  if (what != 0) longjmp(to, what);
  return 0;
}
pid_t forks(int) { return ::fork(); }

class TapTest : public testing::Test {
 protected:
  Rig rig;
  Ring& ring = rig.give_ring();

  void SetUp() override {
    rig.answer = [](Question, ucontext_t&) -> RemoteAddr { ::abort(); };
  }
  const std::vector<Record>& records() {
    EXPECT_EQ(ring.drain(), RingReader::State::Read);
    return ring.records;
  }
};

TEST_F(TapTest, ArgumentsReachTheFunctionAndTheRecord) {
  Tapped tapped = kPlain;
  tapped.stack_words = 6;
  const auto tap = hidden(rig.tap(mixed, tapped));
  const Word64 direct = hidden(mixed)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  EXPECT_EQ(tap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), direct);
  ASSERT_EQ(records().size(), 2u);
  const Record &entry = records()[0], &exit = records()[1];
  EXPECT_EQ(entry.kind, RecordKind::Entry);
  EXPECT_EQ(entry.function, 7);
  EXPECT_EQ(entry.registers, (std::array<Word64, 6>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(entry.stack, (std::array<Word64, 6>{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(exit.kind, RecordKind::Exit);
  EXPECT_EQ(exit.function, 7);
  EXPECT_EQ(exit.result, direct);
  EXPECT_EQ(exit.sp, entry.sp);
  EXPECT_GT(exit.tsc, entry.tsc);
  EXPECT_NE(entry.return_address, 0u);
}

class StackWords : public TapTest, public testing::WithParamInterface<int> {};

TEST_P(StackWords, AreCopiedWithTheStackAligned) {
  Tapped tapped = kPlain;
  tapped.stack_words = static_cast<std::uint8_t>(GetParam());
  // A function that looks at its own stack pointer: 8 above a multiple of 16 at its entry.
  const auto aligned =
      +[](Word64, Word64, Word64, Word64, Word64, Word64, Word64 g, Word64, Word64, Word64, Word64, Word64) -> Word64 {
    alignas(16) volatile char place[16];
    return reinterpret_cast<Word64>(&place[0]) % 16 + 1000 * (g == 7);
  };
  const auto tap = hidden(rig.tap(aligned, tapped));
  EXPECT_EQ(tap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
            GetParam() == 0 ? tap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) : 1000u);
  for (int i = 0; i < GetParam(); ++i)
    EXPECT_EQ(records()[0].stack[static_cast<std::size_t>(i)], 7u + static_cast<Word64>(i));
}
INSTANTIATE_TEST_SUITE_P(Numbers, StackWords, testing::Range(0, 7));

TEST_F(TapTest, WordsThatAreOnlyPassedOnAreNotInTheRecord) {
  Tapped tapped = kPlain;
  tapped.stack_words = 1;
  tapped.passed_words = 5;
  const auto tap = hidden(rig.tap(mixed, tapped));
  const Word64 direct = hidden(mixed)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  EXPECT_EQ(tap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), direct);
  EXPECT_EQ(records()[0].stack, (std::array<Word64, 6>{7}));
  tapped.passed_words = Tapped::kMostPassed - 1;  // further words of the caller's frame do no harm
  EXPECT_EQ(hidden(rig.tap(mixed, tapped))(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), direct);
}

TEST_F(TapTest, ResultsOfEveryKindReachTheCaller) {
  EXPECT_EQ(hidden(rig.tap(three, kPlain))(1, 2, 3), 14u);
  const Wide both_halves = hidden(rig.tap(wide, kPlain))(5, 9);
  EXPECT_EQ(static_cast<Word64>(both_halves), 5u);
  EXPECT_EQ(static_cast<Word64>(both_halves >> 64), 9u);
  EXPECT_EQ(hidden(rig.tap(halves, kPlain))(3.0, 1.0f, 4), 6.0);
  Tapped on_stack = kPlain;
  on_stack.stack_words = 2;
  EXPECT_EQ(hidden(rig.tap(longer, on_stack))(1.5L), 3.0L);
  const Two two = hidden(rig.tap(both, kPlain))(1, 2.0);
  EXPECT_EQ(two.first, 2u);
  EXPECT_EQ(two.second, 3.0);
  EXPECT_EQ(records().size(), 10u);
}

TEST_F(TapTest, AnOutParameterIsReadAfterSuccess) {
  Tapped tapped = kPlain;
  tapped.success = 0;
  tapped.expected = 5;
  tapped.out = {.parameter = 0, .size = 8};
  const auto tap = hidden(rig.tap(gives, tapped));
  Word64 out = 1;
  EXPECT_EQ(tap(&out, 77), 0);
  EXPECT_EQ(out, 77u);
  EXPECT_EQ(tap(&out, 0), 5);
  ASSERT_EQ(records().size(), 4u);
  EXPECT_EQ(records()[1].kind, RecordKind::ExitWithOut);
  EXPECT_EQ(records()[1].out[0], 77u);
  EXPECT_EQ(records()[3].kind, RecordKind::Exit);
  EXPECT_EQ(records()[3].result, 5u);
}

TEST_F(TapTest, AnOutParameterMayHaveTwoWords) {
  Tapped tapped = kPlain;
  tapped.success = 0;
  tapped.out = {.parameter = 1, .size = 16};
  const auto tap = hidden(rig.tap(gives_two, tapped));
  Word64 out[2]{};
  EXPECT_EQ(tap(5, out), 0);
  EXPECT_EQ(tap(6, nullptr), 0);
  ASSERT_EQ(records().size(), 4u);
  EXPECT_EQ(records()[1].kind, RecordKind::ExitWithOut);
  EXPECT_EQ(records()[1].out, (std::array<std::uint64_t, 2>{5, 6}));
  EXPECT_EQ(records()[3].kind, RecordKind::Exit);
}

TEST_F(TapTest, AFailureAsksOnceWithTheRecordComplete) {
  Tapped tapped = kPlain;
  tapped.success = 0;
  const auto tap = hidden(rig.tap(gives, tapped));
  std::size_t seen = 0;
  rig.answer = [&](Question question, ucontext_t&) {
    EXPECT_EQ(question, Question::Failed);
    ring.drain();
    seen = ring.records.size();
    return RemoteAddr{};
  };
  Word64 out = 0;
  EXPECT_EQ(tap(&out, 0), 5);
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(tap(&out, 1), 0);
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::Failed)], 1);
}

TEST_F(TapTest, NothingIsRecordedWhileTapsAreOff) {
  const auto tap = hidden(rig.tap(three, kPlain));
  rig.enable(false);
  EXPECT_EQ(tap(1, 2, 3), 14u);
  EXPECT_TRUE(records().empty());
}

TEST_F(TapTest, ACallSiteAsksOnce) {
  Tapped tapped = kPlain;
  tapped.asks_for_sites = true;
  const auto tap = hidden(rig.tap(three, tapped));
  rig.answer = [&](Question, ucontext_t& context) {
    const auto* frame = reinterpret_cast<const Word64*>(context.uc_mcontext.gregs[REG_RBP]);
    const auto word = rig.sites().add(tapped.number, {frame[1]});
    EXPECT_TRUE(word);
    if (word) Rig::write(*word);
    return RemoteAddr{};
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tap(1, 2, 3), 14u);
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::NewSite)], 1);
  EXPECT_EQ(tap(1, 2, 4), 17u);  // another place
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::NewSite)], 2);
  EXPECT_EQ(records().size(), 202u);
}

TEST_F(TapTest, AFullRingAsksAndNothingIsLost) {
  Rig small(4096);
  Ring& little = small.give_ring();
  small.answer = [&](Question question, ucontext_t&) {
    EXPECT_EQ(question, Question::Full);
    EXPECT_EQ(little.drain(), RingReader::State::Waiting);  // the record that has no room yet
    return RemoteAddr{};
  };
  const auto tap = hidden(small.tap(three, kPlain));
  for (Word64 i = 0; i < 10'000; ++i) ASSERT_EQ(tap(i, 0, 0), i);
  EXPECT_EQ(little.drain(), RingReader::State::Read);
  ASSERT_EQ(little.records.size(), 20'000u);
  for (Word64 i = 0; i < 10'000; ++i) {
    ASSERT_EQ(little.records[2 * i].registers[0], i);
    ASSERT_EQ(little.records[2 * i + 1].result, i);
  }
  EXPECT_GT(small.asked[static_cast<std::size_t>(Question::Full)], 100);
}

TEST_F(TapTest, WithoutATracerAQuestionTurnsAllTapsOff) {
  rig.take_ring();
  rig.answer = [&](Question question, ucontext_t&) { return rig.traps().give_up[static_cast<std::size_t>(question)]; };
  const auto tap = hidden(rig.tap(three, kPlain));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tap(1, 2, 3), 14u);
  EXPECT_FALSE(rig.is_enabled());
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::UnknownThread)], 1);
}

TEST_F(TapTest, ExceptionsPassThrough) {
  const auto tap = hidden(rig.tap(throws, kPlain));
  for (int i = 0; i < 100; ++i) EXPECT_THROW(tap(1), std::runtime_error);
  EXPECT_EQ(tap(0), 0);
  EXPECT_EQ(records().size(), 102u);  // a call that was left has an entry only
}

TEST_F(TapTest, LongjmpPassesThrough) {
  const auto tap = hidden(rig.tap(jumps, kPlain));
  static std::atomic<int> rounds = 0;
  if (setjmp(to) < 100) tap(++rounds);
  EXPECT_EQ(rounds, 100);
  EXPECT_EQ(records().size(), 100u);
}

TEST_F(TapTest, AChildOfAForkIsNotRecorded) {
  const auto tap = hidden(rig.tap(three, kPlain));
  tap(1, 2, 3);
  const pid_t child = ::fork();
  if (child == 0) _exit(tap(1, 2, 3) == 14 && !rig.is_enabled() ? 0 : 1);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(records().size(), 2u);
}

TEST_F(TapTest, AForkInsideACallReturnsInBoth) {
  const auto tap = hidden(rig.tap(forks, kPlain));
  const pid_t child = tap(0);
  if (child == 0) _exit(3);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(records().size(), 2u);
  EXPECT_EQ(records()[1].result, static_cast<Word64>(child));
}

TEST_F(TapTest, EveryThreadHasItsOwnRing) {
  const auto tap = hidden(rig.tap(three, kPlain));
  std::atomic<std::size_t> seen = 0;
  rig.answer = [&](Question question, ucontext_t&) {
    if (question == Question::UnknownThread) rig.give_ring();
    if (question == Question::Full) Rig::mine->drain();
    return RemoteAddr{};
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&] {
        for (Word64 i = 0; i < 20'000; ++i)
          if (tap(i, 0, 0) != i) ::abort();
        Rig::mine->drain();
        seen += Rig::mine->records.size();
        rig.take_ring();
      });
  }
  EXPECT_EQ(seen, 16u * 40'000u);
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::UnknownThread)], 16);
}

// ---------------------------------------------------------------- unwinders
std::uint64_t told = 0;
void is_told(std::uint64_t information) { told = information; }

TEST(Registration, TellsTheUnwinderAndKeepsTheRegistersOfAnEntry) {
  void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const RemoteAddr begin{reinterpret_cast<Word64>(at)}, information = begin + 1024;
  const auto code = registration_code(begin, information);
  std::memcpy(at, code.data(), code.size());
  Word64 first = 1, second = 2, third = 3, fourth = 4;
  asm volatile("lea 1f(%%rip), %%r10\n mov %[function], %%r11\n jmp *%[code]\n 1:\n"
               : "+D"(first), "+S"(second), "+d"(third), "+c"(fourth)
               : [function] "r"(&is_told), [code] "a"(at)
               : "r8", "r9", "r10", "r11", "memory", "cc");
  EXPECT_EQ(told, information.value);
  EXPECT_EQ((std::array{first, second, third, fourth}), (std::array<Word64, 4>{1, 2, 3, 4}));
  ::munmap(at, 4096);
}

// ---------------------------------------------------------------- signal handlers in the middle of a tap
Word64 (*tap_in_handler)(Word64, Word64, Word64) = nullptr;
std::atomic<int> in_handler = 0;
void call_in_handler(int) {
  if (tap_in_handler(1, 1, 1) == 6) ++in_handler;
}

TEST_F(TapTest, SignalHandlersMayCallTheFunctionAtAnyMoment) {
  Rig small(4096);
  Ring& little = small.give_ring();
  small.answer = [&](Question, ucontext_t&) {
    little.drain();
    return RemoteAddr{};
  };
  tap_in_handler = hidden(small.tap(three, kPlain));
  in_handler = 0;
  struct sigaction action {
  }, old{};
  action.sa_handler = call_in_handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, &old);
  Word64 calls = 0;
  for (int signals = 0; signals < 2000; ++signals) {
    const itimerval soon{{0, 0}, {0, 1 + signals % 37}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    while (in_handler == signals) {
      ASSERT_EQ(tap_in_handler(calls, 0, 0), calls);
      ++calls;
    }
  }
  ::sigaction(SIGALRM, &old, nullptr);
  EXPECT_EQ(little.drain(), RingReader::State::Read);
  EXPECT_EQ(little.records.size(), 2 * (calls + static_cast<Word64>(in_handler)));
}

// ---------------------------------------------------------------- where a thread is

// The state of the thread and its ring in front of an instruction.
struct Step {
  RemoteAddr ip;
  Word64 rdx, rbp, entry, exit;  // the two last: the first words of the records
  Word64 head;
  bool called;
};
std::vector<Step> steps;
bool was_called;

Word64 notes_its_call(Word64 a, Word64 b, Word64 c) {
  was_called = true;
  return a + b + c;
}

void on_step(int, siginfo_t*, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto word = [](std::uint64_t at) {
    Word64 out;
    std::memcpy(&out, Rig::mine->memory + at, sizeof out);
    return out;
  };
  const auto reg = [&](int number) { return static_cast<Word64>(registers[number]); };
  steps.push_back({{reg(REG_RIP)},
                   reg(REG_RDX),
                   reg(REG_RBP),
                   word(RingLayout::kRecordsAt),
                   word(RingLayout::kRecordsAt + EntryLayout::size(0)),
                   word(RingLayout::kHeadAt),
                   was_called});
}

Stage stage_of(const Step& step) {
  if (step.exit != 0) return Stage::Left;
  if (step.head > EntryLayout::size(0)) return Stage::Leaving;
  if (step.called) return Stage::Returned;
  if (step.entry != 0) return Stage::Recorded;
  return step.head != 0 ? Stage::Reserved : Stage::Entering;
}

__attribute__((noinline)) Word64 call_in_steps(decltype(&notes_its_call) function) {
  Word64 out;
  asm volatile(
      "sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq; call *%4; pushfq; andl $~0x100, (%%rsp); popfq; "
      "add $128, %%rsp"
      : "=a"(out)
      : "D"(11), "S"(22), "d"(33), "r"(function)
      : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
  return out;
}

TEST_F(TapTest, EachInstructionHasItsStage) {
  steps.clear();
  steps.reserve(4096);
  was_called = false;
  const auto tapped = rig.tap(notes_its_call, kPlain);
  const Stub stub = rig.stub;
  struct sigaction action {
  }, old{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, &old);
  EXPECT_EQ(call_in_steps(tapped), 66u);
  ::sigaction(SIGTRAP, &old, nullptr);
  std::erase_if(steps, [&](const Step& step) { return step.ip < stub.begin || step.ip >= stub.end; });
  ASSERT_GT(steps.size(), 60u);
  const Word64 frame = std::ranges::find(steps, stub.framed, &Step::ip)->rbp;
  for (const Step& step : steps) {
    EXPECT_EQ(stub.stage_at(step.ip), stage_of(step)) << step.ip.value - stub.begin.value;
    EXPECT_EQ(step.rbp == frame, step.ip >= stub.framed && step.ip != stub.returns);
    if (step.ip < stub.clocked || (step.ip >= stub.recorded && step.ip < stub.calls_from)) {
      EXPECT_EQ(step.rdx, 33u);
    }
  }
  EXPECT_EQ(ring.drain(), RingReader::State::Read);
}

// ---------------------------------------------------------------- forks in the middle of a tap
struct sigaction answers_questions;
pid_t parent;
int forks_made, children_died;

// A signal handler that forks, at each instruction. The child goes on without a tracer.
void fork_at_step(int, siginfo_t*, void* context) {
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    ::sigaction(SIGTRAP, &answers_questions, nullptr);
    return;
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  ++forks_made;
  children_died += status != 0;
}

TEST_F(TapTest, AChildMadeAtAnyInstructionGoesOnWithItsCall) {
  rig.answer = [this](Question question, ucontext_t&) {
    return rig.traps().give_up[static_cast<std::size_t>(question)];
  };
  forks_made = children_died = 0;
  parent = ::getpid();
  const auto tapped = rig.tap(notes_its_call, kPlain);
  struct sigaction action {};
  action.sa_sigaction = fork_at_step;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, &answers_questions);
  const Word64 result = call_in_steps(tapped);
  if (::getpid() != parent) ::_exit(result == 66 ? 0 : 1);
  ::sigaction(SIGTRAP, &answers_questions, nullptr);
  EXPECT_EQ(result, 66u);
  EXPECT_GT(forks_made, 60);
  EXPECT_EQ(children_died, 0);
}

}  // namespace
}  // namespace fade::tap::test
