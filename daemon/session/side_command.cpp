#include "session/side_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.hpp"
#include "base/own_memory.hpp"

namespace fade {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with("FADE_")) out.emplace_back(*variable);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// Runs in the grandchild: async-signal-safe calls only.
[[noreturn]] void become(char** argv, char** environment, const Scheduling& scheduling, int error) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  scheduling.give_to_caller();
  own_memory::give_back();
  ::execvpe(argv[0], argv, environment);
  const int failure = errno;
  if (::write(error, &failure, sizeof failure) < 0) ::_exit(126);
  ::_exit(127);
}

// A file system may keep the grandchild in execve() for long: it then counts as started.
constexpr int kExecPatience = 100;  // ms

// The words of the child and the grandchild: the grandchild's number, then an errno if it could not be run.
struct Said {
  pid_t pid = 0;
  int failure = 0;
};

Said read_said(int from) {
  Said out;
  const auto read = [&](auto& value) {
    pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kExecPatience) <= 0) return false;
    ssize_t got;
    do got = ::read(from, &value, sizeof value);
    while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof value);
  };
  if (read(out.pid)) read(out.failure);
  return out;
}

}  // namespace

Scheduling Scheduling::now() {
  Scheduling out;
  out.has_cpus = ::sched_getaffinity(0, sizeof out.cpus, &out.cpus) == 0;
  if (const int policy = ::sched_getscheduler(0); policy >= 0) out.policy = policy;
  return out;
}

void Scheduling::give_to_caller() const {
  if (has_cpus) ::sched_setaffinity(0, sizeof cpus, &cpus);
  const sched_param usual{};  // of the policies without a priority
  if (policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE) ::sched_setscheduler(0, policy, &usual);
}

// The child ends at once, so that init or a reaper waits for the command, and not fade.
Result<Pid> run_beside(const std::vector<std::string>& command, const std::vector<std::string>& more,
                       const Scheduling& scheduling) {
  const std::vector<std::string> environment = environment_with(more);
  auto argv = pointers_to(command), variables = pointers_to(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("cannot create a pipe");
  Fd from(ends[0]), to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("cannot fork");
  if (child == 0) {
    const pid_t inner = ::fork();
    if (inner == 0) {
      const pid_t own = ::getpid();
      if (::write(to.get(), &own, sizeof own) < 0) ::_exit(126);
      become(argv.data(), variables.data(), scheduling, to.get());
    }
    ::_exit(inner < 0 ? 1 : 0);
  }
  to.close();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const Said said = read_said(from.get());
  if (said.pid == 0) return fail("cannot fork");
  if (said.failure != 0) return fail_errno(fmt::format("cannot run {}", command[0]), said.failure);
  return Pid::of(said.pid);
}

}  // namespace fade
