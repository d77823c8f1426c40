#include "service/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "service/process_status.hpp"

namespace fade::service {
namespace {

constexpr int kControl = 3, kOurEnd = 4, kFirstToClose = 5;
constexpr int kSpare = 100;  // above all moved descriptors
#ifndef P_PIDFD
constexpr idtype_t P_PIDFD = static_cast<idtype_t>(3);
#endif

// With the user's groups and, if asked for, one capability that survives the exec.
bool become(const WorkerCommand& command) {
  if (::geteuid() != 0 || command.uid == 0) return true;
  if (command.keep_ptrace && ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return false;
  const passwd* user = ::getpwuid(command.uid);
  if ((user != nullptr ? ::initgroups(user->pw_name, command.gid) : ::setgroups(0, nullptr)) != 0) return false;
  if (::setresgid(command.gid, command.gid, command.gid) != 0 ||
      ::setresuid(command.uid, command.uid, command.uid) != 0)
    return false;
  if (!command.keep_ptrace) return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  data[0].effective = data[0].permitted = data[0].inheritable = 1u << CAP_SYS_PTRACE;
  return ::syscall(SYS_capset, &header, data.data()) == 0 &&
         ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_PTRACE, 0, 0) == 0;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Both ends and the pipe for errors are above the numbers that they are moved to.
bool arrange_descriptors(int theirs, int ours, int& error) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int theirs_high = ::fcntl(theirs, F_DUPFD_CLOEXEC, kSpare), ours_high = ::fcntl(ours, F_DUPFD_CLOEXEC, kSpare);
  const int error_high = ::fcntl(error, F_DUPFD_CLOEXEC, kSpare);
  if (null < 0 || theirs_high < 0 || ours_high < 0 || error_high < 0) return false;
  const bool moved = ::dup2(null, STDIN_FILENO) >= 0 && ::dup2(null, STDOUT_FILENO) >= 0 &&
                     ::dup2(theirs_high, kControl) >= 0 && ::dup2(ours_high, kOurEnd) >= 0;
  error = ::dup3(error_high, kFirstToClose, O_CLOEXEC);
  // Descriptors of the loop or of a client's connection must not live on in a worker.
  return moved && error >= 0 && ::syscall(SYS_close_range, kFirstToClose + 1, ~0U, 0) == 0;
}

[[noreturn]] void become_worker(const WorkerCommand& command, int theirs, int ours, int error) {
  std::vector<std::string> words{"fade-attach", "--control", std::to_string(kControl)};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", home[] = "HOME=/", locale[] = "LC_ALL=C.UTF-8",
       config[] = "FADE_CONFIG=/dev/null";
  char* environment[] = {path, home, locale, config, nullptr};
  reset_signals();
  ::setsid();  // Ctrl-C at our terminal is not meant for it
  if (::chdir("/") == 0 && arrange_descriptors(theirs, ours, error) && become(command))
    ::execve(command.program.c_str(), argv.data(), environment);
  const int failure = errno;
  if (::write(error, &failure, sizeof failure) < 0) ::_exit(126);
  ::_exit(127);
}

Result<std::array<Fd, 2>> make_pair(bool socket) {
  int fds[2];
  if ((socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : ::pipe2(fds, O_CLOEXEC)) != 0)
    return fail_errno("cannot start a worker");
  return std::array{Fd(fds[0]), Fd(fds[1])};
}

void set_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

// Our end of its control socket, from its own table of descriptors. Empty where the kernel does not let us.
Fd take_back(const Fd& pidfd) {
  Fd control(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), kOurEnd, 0)));
  struct stat what {};
  if (!control || ::fstat(control.get(), &what) != 0 || !S_ISSOCK(what.st_mode)) return {};
  set_nonblocking(control);
  return control;
}

}  // namespace

Result<Worker> start_worker(const WorkerCommand& command) {
  auto control = make_pair(true), error = make_pair(false);
  if (!control) return tl::unexpected(std::move(control.error()));
  if (!error) return tl::unexpected(std::move(error.error()));
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start a worker");
  if (pid == 0) become_worker(command, (*control)[1].get(), (*control)[0].get(), (*error)[1].get());
  (*error)[1].close();
  int failure = 0;
  if (::read((*error)[0].get(), &failure, sizeof failure) == sizeof failure) {
    ::waitpid(pid, nullptr, 0);
    return fail_errno("cannot start the worker " + command.program, failure);
  }
  auto pidfd = open_pidfd(Pid::of(pid));
  if (!pidfd) return tl::unexpected(std::move(pidfd.error()));
  set_nonblocking((*control)[0]);
  return Worker{Pid::of(pid), start_ticks(Pid::of(pid)), std::move(*pidfd), std::move((*control)[0])};
}

Result<Worker> find_worker(Pid pid, std::uint64_t start) {
  auto pidfd = open_pidfd(pid);
  if (!pidfd) return tl::unexpected(std::move(pidfd.error()));
  if (start == 0 || start_ticks(pid) != start || has_exited(*pidfd))
    return fail(fmt::format("process {} is no worker any more", pid), {}, {}, ESRCH);
  Fd control = take_back(*pidfd);
  return Worker{pid, start, std::move(*pidfd), std::move(control)};
}

std::string how_it_ended(const Worker& worker) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(worker.pidfd.get()), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0)
    return "its worker ended";
  if (info.si_code == CLD_EXITED) return fmt::format("its worker ended with status {}", info.si_status);
  return fmt::format("its worker was ended by signal {}", info.si_status);
}

void signal_worker(const Worker& worker, int signal) {
  ::syscall(SYS_pidfd_send_signal, worker.pidfd.get(), signal, nullptr, 0);
}

}  // namespace fade::service
