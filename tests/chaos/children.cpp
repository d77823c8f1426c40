// Children of chaos, and the program in its own place.
#include <linux/sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>

#include "workers.hpp"

extern char** environ;

namespace chaos {

int child(int rounds) {
  wrong = 0;
  forget_counts();
  for (int i = 0; i < rounds; ++i) a_few_calls(nullptr);
  return wrong;
}

namespace {

void ended_well(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0) RIGHT(errno == EINTR);
  if (status != 0) fprintf(stderr, "child %d ended with %#x\n", pid, status);
  RIGHT(status == 0);
  ++tally->children;
}

}  // namespace

void* forks(void*) {
  char fd[16];
  snprintf(fd, sizeof fd, "%d", tally_fd);
  char self[] = "/proc/self/exe", name[] = "chaos", word[] = "child";
  char* arguments[] = {name, word, fd, nullptr};
  for (int i = 0; !enough; ++i) {
    pid_t pid = fork();
    if (!pid) _exit(child(i % 8 ? 2 : 100));
    ended_well(pid);
    pid = vfork();
    if (!pid) {
      execve(self, arguments, environ);
      _exit(127);
    }
    ended_well(pid);
    MUST(!posix_spawn(&pid, self, nullptr, nullptr, arguments, environ));
    ended_well(pid);
    usleep(5000);
  }
  return nullptr;
}

void* children_without_handlers(void*) {
  constexpr std::uint64_t kClearSighand = std::uint64_t{1} << 32;
  for (int i = 0; !enough; ++i) {
    clone_args wish{};
    wish.flags = kClearSighand | (i % 2 ? CLONE_UNTRACED : 0);
    wish.exit_signal = SIGCHLD;
    const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &wish, sizeof wish));
    if (!pid) _exit(child(2));
    RIGHT(pid > 0);
    ended_well(pid);
    usleep(3000);
  }
  return nullptr;
}

char** own_arguments;

bool is_for_the_first_thread() { return tally->execs % 3 == 0; }

void execute_self() {
  usleep(20'000 + tally->execs % 5 * 10'000);
  if (enough) return;
  ++tally->execs;
  execve("/proc/self/exe", own_arguments, environ);
  RIGHT(!"it executed itself");
}

void* executes_itself(void*) {
  if (!is_for_the_first_thread()) execute_self();
  return nullptr;
}

}  // namespace chaos
