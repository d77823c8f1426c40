#include "ptrace/launch.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

#include "base/own_memory.hpp"

namespace fade {
namespace {

// Interval timers outlive an exec but a child does not inherit them. A program that sets an alarm and then executes
// fade means the alarm for its program. The time continues when the program starts.
class Alarms {
 public:
  static Alarms take() {
    Alarms out;
    const itimerval off{};
    for (std::size_t i = 0; i < kTimers.size(); ++i) ::setitimer(kTimers[i], &off, &out.left_[i]);
    return out;
  }
  void set() const {
    for (std::size_t i = 0; i < kTimers.size(); ++i) ::setitimer(kTimers[i], &left_[i], nullptr);
  }

 private:
  static constexpr std::array<__itimer_which, 3> kTimers{ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  std::array<itimerval, 3> left_{};
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const auto& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// Runs in the child, after fork from a process that may have had threads: async-signal-safe calls only.
[[noreturn]] void wait_and_exec(int go, int error, const Alarms& alarms, const char* directory, char** argv,
                                char** environment) {
  char leave;
  if (::read(go, &leave, 1) != 1) ::_exit(127);
  alarms.set();
  own_memory::give_back();
  int failure = 0;
  if (*directory && ::chdir(directory) != 0) failure = errno;
  if (!failure) {
    ::execvpe(argv[0], argv, environment);
    failure = errno;
  }
  if (::write(error, &failure, sizeof failure) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

Result<LaunchedProgram> LaunchedProgram::fork_waiting(const Command& command) {
  int go[2], error[2];
  if (::pipe2(go, O_CLOEXEC) != 0) return fail_errno("cannot create a pipe");
  Fd go_read(go[0]), go_write(go[1]);
  if (::pipe2(error, O_CLOEXEC) != 0) return fail_errno("cannot create a pipe");
  Fd error_read(error[0]), error_write(error[1]);
  const auto argv = pointers(command.argv);
  const auto environment = pointers(command.environment);
  const Alarms alarms = Alarms::take();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot fork");
  if (pid == 0) {
    ::close(go_write.get());  // or fade's own end would keep the child's read from ending
    wait_and_exec(go_read.get(), error_write.get(), alarms, command.directory.c_str(), const_cast<char**>(argv.data()),
                  const_cast<char**>(environment.data()));
  }
  return LaunchedProgram(Pid::of(pid), std::move(go_write), std::move(error_read));
}

void LaunchedProgram::release() {
  const char leave = 1;
  if (::write(go_.get(), &leave, 1) == 1) go_.close();
}

int LaunchedProgram::exec_errno() const {
  int failure = 0;
  return ::read(error_.get(), &failure, sizeof failure) == sizeof failure ? failure : 0;
}

}  // namespace fade
