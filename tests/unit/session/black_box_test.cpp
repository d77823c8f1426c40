// What is recorded of the end of a process and of a hang. The process is a folder that stands for /proc, and its
// threads are rows of this test.
#include "session/black_box.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/syscall.h>

#include "session/fake_process.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Tid kLeader = leader_of(test::FakeProcess::kPid), kHelper = Tid::of(kLeader.value() + 1);
constexpr pid_t kOwn = kLeader.value(), kKiller = kOwn + 100;  // in their PID namespace
constexpr std::uint64_t kStackPointer = 0x7000'0000, kReturnsTo = 0x40'1000;

siginfo_t info_of(int signal, int code) {
  siginfo_t out{};
  out.si_signo = signal;
  out.si_code = code;
  return out;
}
siginfo_t fault(int signal, int code, std::uint64_t address) {
  siginfo_t out = info_of(signal, code);
  out.si_addr = reinterpret_cast<void*>(address);
  return out;
}
siginfo_t sent(int signal, int code, pid_t sender, uid_t uid = 0) {
  siginfo_t out = info_of(signal, code);
  out.si_pid = sender;
  out.si_uid = uid;
  return out;
}

struct BlackBoxTest : ::testing::Test {
  BlackBoxTest() {
    process.write("comm", "trainer\n");
    process.write("status", fmt::format("Name:\ttrainer\nNStgid:\t{}\n", kLeader));
    process.write("cgroup", "0::/job\n");
    process.write_at("/proc/vmstat", "oom_kill 3\n");
    count_kills_of_group(0);
    for (const Tid tid : {kLeader, kHelper}) process.link("ns/pid", "pid:[1]", tid);
    process.write_at("/proc/self/x", "");
    std::filesystem::create_directories(process.root() + "/proc/self/ns");
    std::filesystem::create_symlink("pid:[1]", process.root() + "/proc/self/ns/pid");
    inferior.is_root = true;
    for (const Tid tid : {kLeader, kHelper}) add(tid);
    box.began(inferior);
  }
  void count_kills_of_group(int kills) {
    process.write_at("/sys/fs/cgroup/job/memory.events", fmt::format("oom 9\noom_kill {}\n", kills));
  }
  Thread& add(Tid tid) {
    auto& thread = inferior.threads[tid] = std::make_unique<Thread>();
    thread->tid = tid;
    thread->id = ThreadId::of(static_cast<std::uint32_t>(tid.value() - kOwn + 1));
    thread->inferior = &inferior;
    threads.all[tid].at.rsp = kStackPointer;
    threads.all[tid].at.cs = 0x33;
    threads.all[tid].at.orig_rax = ~std::uint64_t{0};
    return *thread;
  }
  Thread& thread(Tid tid) { return *inferior.threads.at(tid); }
  void enter(Tid tid, const std::string& symbol, std::uint64_t sp = kStackPointer, CallId id = 7) {
    process.put(sp, kReturnsTo);
    OpenCall call{.sp = {sp}, .return_address = {kReturnsTo}};
    call.entry = functions.function(test::simple_probe(symbol, 1), "libhip.so", 6);
    call.record.id = id;
    thread(tid).calls.push(std::move(call));
  }
  void signal(Tid tid, const siginfo_t& info) {
    threads.all[tid].info = info;
    box.signalled(thread(tid), info.si_signo);
  }
  void in_call(Tid tid, long number, std::uint64_t first = 0, std::uint64_t second = 0) {
    Registers& at = threads.all[tid].at;
    at.orig_rax = static_cast<std::uint64_t>(number);
    at.rdi = first;
    at.rsi = second;
  }
  // All threads at their end, then the end of the process is reported.
  void die_of(int signal) {
    for (const auto& [tid, one] : inferior.threads) box.dying(*one, signal);
    end({.kind = Stop::Kind::Killed, .tid = kLeader, .status = signal});
  }
  void end(const Stop& stop) { box.ended(inferior, stop); }
  std::vector<Postmortem> told() const { return sink.all<Postmortem>(); }
  // Of the only post-mortem.
  Postmortem only() const {
    EXPECT_THAT(told(), SizeIs(1));
    return told().empty() ? Postmortem{} : told()[0];
  }
  std::vector<ThreadId> seen() const {
    std::vector<ThreadId> out;
    for (const ThreadSeen& one : sink.all<ThreadSeen>()) out.push_back(one.thread);
    std::ranges::sort(out);
    return out;
  }

  test::FakeProcess process;
  test::FakeThreads threads;
  test::FakeKernel kernel{process};
  test::CollectingSink sink;
  const SessionClock clock;
  const probes::Overrides overrides;
  FunctionTable functions{sink, overrides};
  BlackBox box{sink, clock, functions, threads, process.root()};
  Inferior inferior{.pid = test::FakeProcess::kPid,
                    .id = 3,
                    .program = std::make_shared<Program>(kernel, test::FakeProcess::kPid, process.proc())};
};

// ---------------------------------------------------------------- signals

struct SignalCase {
  const char* name;
  siginfo_t info;
  Postmortem expected;
};

std::vector<SignalCase> signal_cases() {
  const auto post = [](Postmortem of) {
    of.has_code = true;
    return of;
  };
  const std::uint64_t far = 0x1000, below = kStackPointer - 4096, above = kStackPointer + 4096;
  return {
      {"NullPointer", fault(SIGSEGV, SEGV_MAPERR, far), post({.signal = SIGSEGV, .code = SEGV_MAPERR, .address = far})},
      {"StackOverflow", fault(SIGSEGV, SEGV_MAPERR, below),
       post({.signal = SIGSEGV, .code = SEGV_MAPERR, .address = below, .cause = "stack"})},
      {"GuardPage", fault(SIGSEGV, SEGV_ACCERR, above),
       post({.signal = SIGSEGV, .code = SEGV_ACCERR, .address = above, .cause = "stack"})},
      {"PastTheStack", fault(SIGSEGV, SEGV_MAPERR, kStackPointer + (8 << 10)),
       post({.signal = SIGSEGV, .code = SEGV_MAPERR, .address = kStackPointer + (8 << 10)})},
      {"BusErrorNearTheStack", fault(SIGBUS, BUS_ADRERR, below),
       post({.signal = SIGBUS, .code = BUS_ADRERR, .address = below})},
      {"GeneralProtection", fault(SIGSEGV, SI_KERNEL, 0), post({.signal = SIGSEGV, .code = SI_KERNEL})},
      {"DivisionByZero", fault(SIGFPE, FPE_INTDIV, far), post({.signal = SIGFPE, .code = FPE_INTDIV, .address = far})},
      {"KillByAnother", sent(SIGTERM, SI_USER, kKiller, 1000),
       post({.signal = SIGTERM, .code = SI_USER, .sender = kKiller, .sender_uid = 1000, .sender_name = "killer"})},
      {"QueuedByAnother", sent(SIGSEGV, SI_QUEUE, kKiller),
       post({.signal = SIGSEGV, .code = SI_QUEUE, .sender = kKiller, .sender_name = "killer"})},
      {"Abort", sent(SIGABRT, SI_TKILL, kOwn),
       post({.signal = SIGABRT, .code = SI_TKILL, .sender = kOwn, .cause = "self"})},
      {"KillOfAGoneProcess", sent(SIGTERM, SI_USER, kKiller + 1),
       post({.signal = SIGTERM, .code = SI_USER, .sender = kKiller + 1})},
      {"TimerHasNoSender", sent(SIGALRM, SI_TIMER, kKiller), post({.signal = SIGALRM, .code = SI_TIMER})},
  };
}

struct BlackBoxSignals : BlackBoxTest, ::testing::WithParamInterface<SignalCase> {};

TEST_P(BlackBoxSignals, ArePartOfThePostMortem) {
  process.write("comm", "killer\n", Pid(kKiller));
  signal(kHelper, GetParam().info);
  die_of(GetParam().info.si_signo);
  const Postmortem got = only(), &expected = GetParam().expected;
  EXPECT_EQ(got.kind, Postmortem::Kind::Signal);
  EXPECT_EQ(got.process.value(), 3u);
  EXPECT_EQ(got.thread, thread(kHelper).id);
  EXPECT_EQ(got.signal, expected.signal);
  EXPECT_EQ(got.code, expected.code);
  EXPECT_EQ(got.has_code, expected.has_code);
  EXPECT_EQ(got.address, expected.address);
  EXPECT_EQ(got.sender, expected.sender);
  EXPECT_EQ(got.sender_uid, expected.sender_uid);
  EXPECT_EQ(got.sender_name, expected.sender_name);
  EXPECT_EQ(got.cause, expected.cause);
}

INSTANTIATE_TEST_SUITE_P(Of, BlackBoxSignals, ::testing::ValuesIn(signal_cases()),
                         [](const auto& one) { return one.param.name; });

TEST_F(BlackBoxTest, NamesNoSenderFromAnotherNamespace) {
  process.write("comm", "killer\n", Pid(kKiller));
  std::filesystem::remove(process.root() + fmt::format("/proc/{}/ns/pid", kHelper));
  process.link("ns/pid", "pid:[2]", kHelper);
  signal(kHelper, sent(SIGTERM, SI_USER, kKiller));
  die_of(SIGTERM);
  EXPECT_EQ(only().sender, kKiller);
  EXPECT_EQ(only().sender_name, "");
}

TEST_F(BlackBoxTest, ItsOwnNumberIsThatOfItsNamespace) {
  process.write("status", fmt::format("NStgid:\t{}\t12\n", kLeader));
  signal(kHelper, sent(SIGABRT, SI_TKILL, 12));
  die_of(SIGABRT);
  EXPECT_EQ(only().cause, "self");
}

// As Python's faulthandler does.
TEST_F(BlackBoxTest, ASignalThatTheHandlerRaisesAgainKeepsItsFirstOrigin) {
  signal(kHelper, fault(SIGSEGV, SEGV_MAPERR, 0x10));
  signal(kHelper, sent(SIGSEGV, SI_TKILL, kOwn));
  die_of(SIGSEGV);
  EXPECT_EQ(only().code, SEGV_MAPERR);
  EXPECT_EQ(only().address, 0x10u);
  EXPECT_EQ(only().sender, 0);
}

TEST_F(BlackBoxTest, AKillAfterAHandledFaultIsTheKillers) {
  signal(kHelper, fault(SIGSEGV, SEGV_MAPERR, 0x10));
  signal(kHelper, sent(SIGSEGV, SI_USER, kKiller));
  die_of(SIGSEGV);
  EXPECT_EQ(only().code, SI_USER);
  EXPECT_EQ(only().address, std::nullopt);
  EXPECT_EQ(only().sender, kKiller);
}

TEST_F(BlackBoxTest, TheLastThreadThatGotTheSignalIsTheOneThatDiedOfIt) {
  signal(kHelper, sent(SIGTERM, SI_USER, kKiller));
  thread(kHelper).signal.at = 10;
  signal(kLeader, sent(SIGTERM, SI_USER, kKiller));
  thread(kLeader).signal.at = 20;
  signal(kHelper, sent(SIGUSR1, SI_USER, kKiller));
  die_of(SIGTERM);
  EXPECT_EQ(only().thread, thread(kLeader).id);
}

TEST_F(BlackBoxTest, AThreadThatCannotBeAskedLeavesTheOriginUnknown) {
  threads.all.erase(kHelper);
  box.signalled(thread(kHelper), SIGTERM);
  end({.kind = Stop::Kind::Killed, .status = SIGTERM});
  EXPECT_FALSE(only().has_code);
  EXPECT_EQ(only().thread, thread(kHelper).id);
}

// ---------------------------------------------------------------- SIGKILL, of which no thread is told

TEST_F(BlackBoxTest, SigkillHasNoThreadAndNoCode) {
  die_of(SIGKILL);
  EXPECT_EQ(only().signal, SIGKILL);
  EXPECT_EQ(only().thread.value(), 0u);
  EXPECT_FALSE(only().has_code);
  EXPECT_EQ(only().cause, "");
}

TEST_F(BlackBoxTest, SigkillOfTheGroupsMemoryLimitIsCertain) {
  count_kills_of_group(1);
  die_of(SIGKILL);
  EXPECT_EQ(only().cause, "oom");
  EXPECT_THAT(only().evidence, HasSubstr("memory.events"));
}

TEST_F(BlackBoxTest, SigkillWhileTheMachineKillsIsAGuess) {
  process.write("cgroup", "0::/\n");
  BlackBox other(sink, clock, functions, threads, process.root());
  other.began(inferior);
  process.write_at("/proc/vmstat", "oom_kill 4\n");
  other.ended(inferior, {.kind = Stop::Kind::Killed, .status = SIGKILL});
  EXPECT_EQ(only().cause, "oom?");
}

TEST_F(BlackBoxTest, OtherSignalsAreNotOfTheMemoryLimit) {
  count_kills_of_group(1);
  die_of(SIGTERM);
  EXPECT_EQ(only().cause, "");
}

TEST_F(BlackBoxTest, SigkillByItselfIsSeenAtTheThreadThatSentIt) {
  in_call(kHelper, SYS_kill, kOwn, SIGKILL);
  die_of(SIGKILL);
  const auto all = told();
  const auto self = std::ranges::find(all, "self", &Postmortem::cause);
  ASSERT_NE(self, all.end());
  EXPECT_EQ(self->thread, thread(kHelper).id);
  EXPECT_EQ(self->postmortem, all.front().postmortem) << "one death";
}

TEST_F(BlackBoxTest, AKillOfAnotherProcessIsNoKillOfItself) {
  in_call(kHelper, SYS_kill, kKiller, SIGKILL);
  die_of(SIGKILL);
  EXPECT_EQ(only().cause, "");
}

// ---------------------------------------------------------------- threads at their end

TEST_F(BlackBoxTest, EachThreadOfADeathIsSeenOnceAndUnderItsNumber) {
  die_of(SIGSEGV);
  EXPECT_THAT(seen(), ElementsAre(thread(kLeader).id, thread(kHelper).id));
  for (const ThreadSeen& one : sink.all<ThreadSeen>()) EXPECT_EQ(one.postmortem, only().postmortem);
}

TEST_F(BlackBoxTest, AThreadThatEndsAloneIsNoDeath) {
  in_call(kHelper, SYS_exit);
  box.dying(thread(kHelper), 0);
  EXPECT_FALSE(thread(kHelper).ends_with_others);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(BlackBoxTest, ACleanExitLeavesNoPostMortem) {
  in_call(kHelper, SYS_exit_group);
  for (const Tid tid : {kLeader, kHelper}) box.dying(thread(tid), 0);
  EXPECT_TRUE(thread(kLeader).ends_with_others);
  end({.kind = Stop::Kind::Exited, .status = 0});
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(BlackBoxTest, AnExitDuringACallNamesTheThreadThatEndedTheProcess) {
  enter(kLeader, "hipDeviceSynchronize");
  in_call(kHelper, SYS_exit_group);
  for (const Tid tid : {kLeader, kHelper}) box.dying(thread(tid), 5 << 8);
  EXPECT_THAT(told(), IsEmpty()) << "it may be an exec";
  end({.kind = Stop::Kind::Exited, .status = 5});
  EXPECT_EQ(only().kind, Postmortem::Kind::Exit);
  EXPECT_EQ(only().exit_code, 5);
  EXPECT_EQ(only().thread, thread(kHelper).id);
  EXPECT_THAT(seen(), ElementsAre(thread(kLeader).id, thread(kHelper).id));
  EXPECT_THAT(box.sentences(), ElementsAre("trainer (pid 900000001) exited with status 5 while calls were running"));
}

TEST_F(BlackBoxTest, ThreadsThatEndForAnExecDidNotDie) {
  enter(kHelper, "hipDeviceSynchronize");
  box.dying(thread(kHelper), 0);
  box.executed(inferior);
  inferior.threads.erase(kHelper);
  end({.kind = Stop::Kind::Exited, .status = 0});
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(BlackBoxTest, AThreadWithoutALastStopIsSeenFromOutside) {
  process.write("syscall", fmt::format("{} 0x4 0x0\n", SYS_ioctl), kHelper);
  process.link("fd/4", "/dev/kfd", kHelper);
  box.dying(thread(kLeader), SIGKILL);
  end({.kind = Stop::Kind::Killed, .status = SIGKILL});
  EXPECT_THAT(seen(), ElementsAre(thread(kLeader).id, thread(kHelper).id));
  EXPECT_EQ(sink.all<ThreadSeen>().back().doing, "ioctl on /dev/kfd");
}

TEST_F(BlackBoxTest, HelpersWithoutGpuDieUnnoticed) {
  inferior.is_root = false;
  die_of(SIGSEGV);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(BlackBoxTest, HelpersThatUseTheGpuAreNoticed) {
  inferior.is_root = false;
  inferior.program->modules.push_back({.watched = true});
  die_of(SIGSEGV);
  EXPECT_EQ(only().signal, SIGSEGV);
}

// ---------------------------------------------------------------- sentences

TEST_F(BlackBoxTest, ACrashIsSaidWithTheCallOfItsThread) {
  enter(kLeader, "hipFree");
  enter(kHelper, "hipMemcpy");
  signal(kHelper, fault(SIGSEGV, SEGV_MAPERR, 0x10));
  die_of(SIGSEGV);
  EXPECT_THAT(box.sentences(), ElementsAre("trainer (pid 900000001) died of SIGSEGV in hipMemcpy"));
}

TEST_F(BlackBoxTest, ACrashOutsideOfCallsNamesTheCallOfAnotherThread) {
  enter(kLeader, "hipFree");
  signal(kHelper, fault(SIGSEGV, SEGV_MAPERR, 0x10));
  die_of(SIGSEGV);
  EXPECT_THAT(box.sentences(),
              ElementsAre("trainer (pid 900000001) died of SIGSEGV while another thread was in hipFree"));
}

TEST_F(BlackBoxTest, SignalsThatTellProgramsToEndAreNotSaid) {
  die_of(SIGTERM);
  EXPECT_THAT(told(), SizeIs(1));
  EXPECT_THAT(box.sentences(), IsEmpty());
}

TEST_F(BlackBoxTest, OnlyTheFirstSentencesAreKept) {
  for (int i = 0; i < 9; ++i) die_of(SIGSEGV);
  EXPECT_THAT(told(), SizeIs(9));
  EXPECT_THAT(box.sentences(), SizeIs(3));
}

// ---------------------------------------------------------------- a living process

TEST_F(BlackBoxTest, AHangIsSaidWithItsTimeAndCall) {
  enter(kHelper, "hipStreamSynchronize");
  const PostmortemId number = box.begin(inferior, Postmortem::Kind::Hang, 30'000'000'000);
  EXPECT_EQ(only().kind, Postmortem::Kind::Hang);
  EXPECT_EQ(only().postmortem, number);
  EXPECT_EQ(only().quiet_ns, 30'000'000'000);
  EXPECT_THAT(box.sentences(), ElementsAre("trainer (pid 900000001) appears to hang in hipStreamSynchronize"));
}

TEST_F(BlackBoxTest, ASnapshotIsNotSaid) {
  EXPECT_NE(box.begin(inferior, Postmortem::Kind::Snapshot, 0), box.begin(inferior, Postmortem::Kind::Snapshot, 0));
  EXPECT_THAT(told(), SizeIs(2));
  EXPECT_THAT(box.sentences(), IsEmpty());
}

TEST_F(BlackBoxTest, AStoppedThreadShowsItsSystemCallAndPlace) {
  process.link("fd/4", "/dev/kfd", kHelper);
  in_call(kHelper, SYS_ioctl, 4);
  threads.all[kHelper].at.rip = 0x1234;
  const Registers registers = *threads.registers(kHelper);
  const ThreadSeen one = box.look(thread(kHelper), &registers);
  EXPECT_EQ(one.doing, "ioctl on /dev/kfd");
  EXPECT_EQ(one.address, 0x1234u);
  in_call(kHelper, -1);
  const Registers later = *threads.registers(kHelper);
  EXPECT_EQ(box.look(thread(kHelper), &later).doing, "running");
}

TEST_F(BlackBoxTest, AThreadThatDoesNotStopShowsOnlyItsSystemCall) {
  const std::pair<std::string, std::string> cases[] = {
      {"running\n", "running"},
      {fmt::format("{} 0x7f 0x0\n", SYS_futex), "futex"},
      {fmt::format("{} 0x9 0x0\n", SYS_read), "read"},  // that descriptor is no longer open
      {"4095 0x0\n", "system call 4095"},
      {"-1 0x7ffe 0x7f\n", ""},
      {"nonsense\n", ""},
      {"", ""},
  };
  for (const auto& [text, doing] : cases) {
    process.write("syscall", text, kHelper);
    const ThreadSeen one = box.look(thread(kHelper), nullptr);
    EXPECT_EQ(one.doing, doing) << text;
    EXPECT_EQ(one.address, 0u);
  }
}

TEST_F(BlackBoxTest, AThreadShowsItsInnermostCalls) {
  for (CallId id = 1; id <= 40; ++id) enter(kHelper, "hipMemcpy", kStackPointer - id.value() * 64, id);
  const ThreadSeen one = box.look(thread(kHelper), nullptr);
  ASSERT_THAT(one.calls, SizeIs(32));
  EXPECT_EQ(one.calls.front().record.id.value(), 9u);
  EXPECT_EQ(one.calls.back().record.id.value(), 40u);
}

TEST_F(BlackBoxTest, CallsThatAnExceptionLeftAreNotRunning) {
  enter(kHelper, "hipMemcpy", kStackPointer, 1);
  enter(kHelper, "hipFree", kStackPointer - 64, 2);
  process.put(kStackPointer - 64, std::uint64_t{0});  // other data is there by now
  const ThreadSeen one = box.look(thread(kHelper), nullptr);
  ASSERT_THAT(one.calls, SizeIs(1));
  EXPECT_EQ(one.calls[0].record.id.value(), 1u);
}

TEST_F(BlackBoxTest, APlaceIsSentWithItsModule) {
  Module module{.id = 5, .span = {{0x10'0000}, {0x20'0000}}, .path = "/lib/libmine.so"};
  module.entry.l_addr = 0x10'0000;
  inferior.program->modules.push_back(module);
  box.tell(9, {.thread = 2, .address = 0x10'0040}, *inferior.program, kHelper);
  box.tell(9, {.thread = 1, .address = 0x40}, *inferior.program, kHelper);
  const auto all = sink.all<ThreadSeen>();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].postmortem.value(), 9u);
  EXPECT_EQ(all[0].module.value(), 5u);
  EXPECT_EQ(all[0].offset, 0x40u);
  EXPECT_EQ(all[1].module.value(), 0u);
}

TEST_F(BlackBoxTest, StacksAreTakenOfStoppedThreadsOnly) {
  box.take_stacks_with([](Thread&, const Registers&) { return StackId{77}; });
  const Registers registers = *threads.registers(kHelper);
  EXPECT_EQ(box.look(thread(kHelper), &registers).stack.value(), 77u);
  EXPECT_EQ(box.look(thread(kHelper), nullptr).stack.value(), 0u);
}

}  // namespace
}  // namespace fade
