#include "supervisor/signal_witness.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "supervisor/process_title.hpp"
#include "supervisor/relayed_signals.hpp"
#include "supervisor/witness_loop.hpp"

namespace fade {
namespace {

constexpr const char* kName = "signal-witness";  // does not hold "fade": pkill(1) with that name is for fade-run alone

std::string title(const std::vector<std::string>& command) {
  return fmt::format("{} of process {}: {}", kName, ::getpid(), fmt::join(command, " "));
}

// A descriptor that the witness kept would keep a pipe from its end, or a terminal from its hangup. 0 and 1 are free
// afterwards for the witness's own descriptors.
bool keep_only(int notes, int pidfd) {
  const int high_notes = ::fcntl(notes, F_DUPFD, 3), high_pidfd = ::fcntl(pidfd, F_DUPFD, 3);
  if (::dup2(high_notes, 0) < 0 || ::dup2(high_pidfd, 1) < 0) return false;
  ::closefrom(2);
  return true;
}

void depend_on(Pid parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (Pid::of(::getppid()) != parent) ::_exit(0);  // it ended before
  if (::chdir("/") != 0) ::_exit(1);
}

[[noreturn]] void be_witness(int notes, int pidfd, Pid program, LetGoWish& wish) {
  if (!keep_only(notes, pidfd)) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 0);  // pidof(8) would take the witness for fade-run, because their program is the same file
  const sigset_t relayed = relayed_signals();
  const int signals = ::signalfd(-1, &relayed, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals < 0) ::_exit(1);
  WitnessLoop(0, signals, 1, program, wish).run();
  ::_exit(0);
}

// Empty where the kernel, or a container's filter, does not let signals be sent this way.
Fd pidfd_of(Pid pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid.value(), 0)));
  return fd && ::syscall(SYS_pidfd_send_signal, fd.get(), 0, nullptr, 0) == 0 ? std::move(fd) : Fd();
}

LetGoWish* shared_wish() {
  void* memory = ::mmap(nullptr, sizeof(LetGoWish), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) LetGoWish;
}

// With all signals blocked, so that one that comes at once does not end the child.
Pid fork_blocked() {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return Pid::of(pid);
}

bool is_our_child(Pid pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid.value()), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

SignalWitness::SignalWitness(Pid program, const std::vector<std::string>& command) : wish_(shared_wish()) {
  if (wish_) start(program, title(command));
}

void SignalWitness::start(Pid program, const std::string& title) {
  const Fd pidfd = pidfd_of(program);
  int ends[2];
  if (!pidfd || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  notes_ = Fd(ends[0]);
  const Fd other(ends[1]);
  const TitlePlace place = title_place();
  const Pid parent = own_pid();
  pid_ = fork_blocked();
  if (pid_ == 0) {
    depend_on(parent);
    set_title(place, kName, title);
    be_witness(other.get(), pidfd.get(), program, *wish_);
  }
  if (pid_ > 0) return;
  pid_ = 0;
  notes_.close();
}

// A stopped witness would not end. Where SIGCHLD is ignored the kernel has forgotten it, and its number may be
// another's.
SignalWitness::~SignalWitness() {
  notes_.close();
  if (pid_ != 0 && is_our_child(pid_)) {
    ::kill(pid_.value(), SIGCONT);
    while (::waitpid(pid_.value(), nullptr, 0) < 0 && errno == EINTR) {}
  }
  if (wish_) ::munmap(wish_, sizeof(LetGoWish));
}

bool SignalWitness::tell(const SignalNote& note) const {
  return notes_ && ::send(notes_.get(), &note, sizeof note, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof note;
}

}  // namespace fade
