#include "ptrace/interrupted.hpp"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using test::Child;
using test::Shared;

Registers in_call(long number, long result) {
  Registers r{};
  r.cs = 0x33;
  r.rip = 0x1000;
  r.orig_rax = static_cast<std::uint64_t>(number);
  r.rax = static_cast<std::uint64_t>(result);
  r.rdi = 3;
  return r;
}

void expect_at_the_call(const std::optional<Registers>& r, long number) {
  ASSERT_TRUE(r);
  EXPECT_EQ(r->rip, 0x1000u - 2);
  EXPECT_EQ(r->rax, static_cast<std::uint64_t>(number));
  EXPECT_EQ(r->orig_rax, ~std::uint64_t{0});  // the kernel must not restart it a second time
  EXPECT_EQ(r->rdi, 3u);
}

TEST(BegunAgain, WhatTheKernelWouldRestart) {
  for (const long code : {-512, -513, -514, -516}) expect_at_the_call(begun_again(in_call(SYS_read, code)), SYS_read);
}

TEST(BegunAgain, NothingElse) {
  for (const long result : {0L, 5L, long{-EINTR}, long{-EAGAIN}, -511L, -515L, -517L})
    EXPECT_FALSE(begun_again(in_call(SYS_read, result)));
  EXPECT_FALSE(begun_again(in_call(-1, -512)));  // not in a system call: rax is the program's own
  Registers compatible = in_call(SYS_read, -512);
  compatible.cs = 0x23;
  EXPECT_FALSE(begun_again(compatible));
}

TEST(CalledOnceMore, CallsThatEndByAnyStop) {
  for (const long number :
       {SYS_epoll_wait, SYS_epoll_pwait, SYS_semop, SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents, SYS_recvfrom,
        SYS_recvmsg, SYS_accept, SYS_read, SYS_sendmsg, SYS_connect})
    expect_at_the_call(called_once_more(in_call(number, -EINTR)), number);
}

TEST(CalledOnceMore, NothingElse) {
  EXPECT_FALSE(called_once_more(in_call(SYS_pause, -EINTR)));  // only a handler does that
  EXPECT_FALSE(called_once_more(in_call(SYS_epoll_wait, 1)));
  EXPECT_FALSE(called_once_more(in_call(SYS_epoll_wait, -EBADF)));
  EXPECT_FALSE(called_once_more(in_call(-1, -EINTR)));
  Registers compatible = in_call(SYS_epoll_wait, -EINTR);
  compatible.cs = 0x23;
  EXPECT_FALSE(called_once_more(compatible));
}

TEST(WantsRestartSyscall, OnlyForWhatIsLeftOfATime) {
  EXPECT_TRUE(wants_restart_syscall(in_call(SYS_nanosleep, -516)));
  EXPECT_FALSE(wants_restart_syscall(in_call(SYS_nanosleep, -514)));
  EXPECT_FALSE(wants_restart_syscall(in_call(-1, -516)));
}

// ---------------------------------------------------------------- threads that sleep in a system call

int pipe_ends[2], semaphores = -1;

// In each of these a child sleeps until a byte comes or for ever. 0: it did what it should.
int in_read() {
  char byte;
  return ::read(pipe_ends[0], &byte, 1) == 1 ? 0 : 1;
}
int in_poll() {
  pollfd fd{pipe_ends[0], POLLIN, 0};
  return ::poll(&fd, 1, 3'600'000) == 1 ? 0 : 1;
}
int in_select() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe_ends[0], &set);
  timeval limit{3600, 0};
  return ::select(pipe_ends[0] + 1, &set, nullptr, nullptr, &limit) == 1 ? 0 : 1;
}
int in_epoll_wait() {
  const int epoll = ::epoll_create1(0);
  epoll_event event{.events = EPOLLIN, .data = {}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event);
  return ::epoll_wait(epoll, &event, 1, 3'600'000) == 1 ? 0 : 1;
}
int in_nanosleep() {
  const timespec long_enough{3600, 0};
  return ::nanosleep(&long_enough, nullptr) == 0 ? 0 : 1;
}
int in_futex() {
  int word = 1;
  const timespec limit{3600, 0};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT, 1, &limit, nullptr, 0) == 0 ? 0 : 1;
}
int in_sigtimedwait() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const timespec limit{3600, 0};
  return ::sigtimedwait(&set, nullptr, &limit) == SIGUSR2 ? 0 : 1;
}
int in_sigsuspend() {
  sigset_t none;
  sigemptyset(&none);
  ::sigsuspend(&none);
  return 1;  // no handler is there to end it
}
int in_semop() {
  sembuf take{0, -1, 0};
  return ::syscall(SYS_semop, semaphores, &take, 1) == 0 ? 0 : 1;
}
int in_recv_with_a_limit() {
  int both[2];
  char byte;
  const timeval limit{3600, 0};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0) return 2;
  ::setsockopt(both[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return ::recv(both[0], &byte, 1, 0) == 1 ? 0 : 1;
}

// Number of the system call that the sleeping thread is in (proc_pid_syscall(5)); -1: it does not sleep in one.
long sleeps_in(Tid tid) {
  std::ifstream status("/proc/" + std::to_string(tid.value()) + "/stat"),
      call("/proc/" + std::to_string(tid.value()) + "/syscall");
  std::string pid, name, state, number;
  status >> pid >> name >> state;
  call >> number;
  return state != "S" || number.empty() || number == "running" ? -1 : std::stol(number);
}

struct Sleep {
  const char* name;
  int (*body)();
  long number;
  bool ends_by_byte;
  bool is_restarted;  // by the kernel, behind a stop
};
void PrintTo(const Sleep& sleep, std::ostream* out) { *out << sleep.name; }

struct Asleep : ::testing::TestWithParam<Sleep> {
  const Tracer tracer = test::make_tracer();
  std::unique_ptr<Child> child;

  void SetUp() override {
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    semaphores = ::semget(IPC_PRIVATE, 1, 0600);
    child = std::make_unique<Child>(GetParam().body);
    child->go();
    ASSERT_TRUE(test::eventually([&] { return sleeps_in(child->tid()) == GetParam().number; }));
  }
  void TearDown() override {
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    ::semctl(semaphores, 0, IPC_RMID);
  }
  bool sleeps_again() const {
    return test::eventually([&] {
      const long number = sleeps_in(child->tid());
      return number == GetParam().number || number == SYS_restart_syscall;
    });
  }
  void interrupt() {
    Tracee(child->tid()).interrupt();
    ASSERT_EQ(tracer.next_of(child->tid()).kind, Stop::Kind::Trap);
  }
  // As a session lets a thread go on.
  void mend() const {
    const Tracee tracee(child->tid());
    const auto registers = tracee.registers();
    ASSERT_TRUE(registers);
    const auto again = called_once_more(*registers);
    EXPECT_TRUE(!again || tracee.set_registers(*again));
  }
  void resume() const {
    mend();
    ASSERT_TRUE(Tracee(child->tid()).resume());
  }
  void wake_up() {
    if (!GetParam().ends_by_byte) return;
    ASSERT_EQ(::write(pipe_ends[1], "", 1), 1);
    const int status = child->wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
};

TEST_P(Asleep, AStopIsNotSeen) {
  ASSERT_TRUE(tracer.seize(child->tid(), false));
  for (int i = 0; i < 5; ++i) {
    interrupt();
    resume();
    ASSERT_TRUE(sleeps_again()) << "after stop " << i;
  }
  wake_up();
}

TEST_P(Asleep, RemoteCallsAreNotSeen) {
  ASSERT_TRUE(tracer.seize(child->tid(), false));
  interrupt();
  const ProcessMemory memory(child->pid());
  const RemoteCall call(tracer, memory, child->tid(), test::gadgets());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(call.syscall(SYS_getpid, {}), child->pid().value());
  const Tracee tracee(child->tid());
  tracee.interrupt();  // as remote_call.hpp asks for
  tracee.resume();
  ASSERT_EQ(tracer.next_of(child->tid()).kind, Stop::Kind::Trap);
  resume();
  ASSERT_TRUE(sleeps_again());
  wake_up();
}

TEST_P(Asleep, DetachingIsNotSeen) {
  ASSERT_TRUE(tracer.seize(child->tid(), false));
  interrupt();
  mend();
  ASSERT_TRUE(Tracee(child->tid()).detach());
  ASSERT_TRUE(sleeps_again());
  wake_up();
}

// Whatever a tracer was doing when it was killed: the call goes on, or begins again.
struct AsleepAndRestarted : Asleep {};
TEST_P(AsleepAndRestarted, ATracerThatDiesInARemoteCallIsNotSeen) {
  bool killed = true;
  int at = 1;
  for (; killed; ++at) {
    Child asleep(GetParam().body);
    asleep.go();
    ASSERT_TRUE(test::eventually([&] { return sleeps_in(asleep.tid()) == GetParam().number; }));
    killed = test::kill_tracer_at(at, [&] {
      const Tracer mortal = test::make_tracer(std::chrono::hours(1));
      if (!mortal.seize(asleep.tid(), false)) return;
      const Tracee tracee(asleep.tid());
      tracee.interrupt();
      mortal.next_of(asleep.tid());
      const ProcessMemory memory(asleep.pid());
      if (RemoteCall(mortal, memory, asleep.tid(), test::gadgets()).syscall(SYS_getpid, {}) != asleep.pid().value())
        return;
      tracee.interrupt();
      tracee.resume();
      mortal.next_of(asleep.tid());
      tracee.detach();
    });
    ASSERT_TRUE(test::eventually([&] {
      const long number = sleeps_in(asleep.tid());
      return number == GetParam().number || number == SYS_restart_syscall;
    })) << "after system call stop "
        << at;
  }
  EXPECT_GT(at, 20);  // there was something to kill
}

const std::vector<Sleep> kSleeps{
    {"read", in_read, SYS_read, true, true},
    {"poll", in_poll, SYS_poll, true, true},
    {"select", in_select, SYS_pselect6, true, true},
    {"epoll_wait", in_epoll_wait, SYS_epoll_wait, true, false},
    {"nanosleep", in_nanosleep, SYS_clock_nanosleep, false, true},
    {"futex", in_futex, SYS_futex, false, true},
    {"sigtimedwait", in_sigtimedwait, SYS_rt_sigtimedwait, false, false},
    {"sigsuspend", in_sigsuspend, SYS_rt_sigsuspend, false, true},
    {"semop", in_semop, SYS_semop, false, false},
    {"recv_with_a_limit", in_recv_with_a_limit, SYS_recvfrom, false, false},
};
std::vector<Sleep> restarted() {
  std::vector<Sleep> out;
  std::ranges::copy_if(kSleeps, std::back_inserter(out), &Sleep::is_restarted);
  return out;
}
std::string name_of(const ::testing::TestParamInfo<Sleep>& sleep) { return sleep.param.name; }
INSTANTIATE_TEST_SUITE_P(Calls, Asleep, ::testing::ValuesIn(kSleeps), name_of);
INSTANTIATE_TEST_SUITE_P(Calls, AsleepAndRestarted, ::testing::ValuesIn(restarted()), name_of);

}  // namespace
}  // namespace fade
