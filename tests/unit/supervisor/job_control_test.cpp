#include "supervisor/job_control.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fade {
namespace {

// In a process of its own: exits with what `body` returns. Whoever waits continues it once, if it stops.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // not an orphaned group, whose stops the kernel leaves out
    ::_exit(body());
  }
  int status = 0, stops = 0;
  while (::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
    ++stops;
    ::kill(child, SIGCONT);
  }
  return WEXITSTATUS(status) + 100 * stops;
}

TEST(JobControl, HoldsARequestUntilItMayHaveItsEffect) {
  EXPECT_EQ(in_child([] {
              const JobControl job;
              if (job.stop_asked()) return 1;
              ::kill(::getpid(), SIGTSTP);
              return job.stop_asked() ? 2 : 3;
            }),
            2);
  EXPECT_EQ(in_child([] {
              {
                const JobControl job;
                ::kill(::getpid(), SIGTSTP);
              }
              return 7;  // without a stop: nobody wanted it
            }),
            7);
  EXPECT_EQ(in_child([] {
              const JobControl job;
              ::kill(::getpid(), SIGTTIN);
              job.stop();
              return job.stop_asked() ? 1 : 4;
            }),
            104);
}

TEST(JobControl, ARequestThatWasTakenBackIsNone) {
  EXPECT_EQ(in_child([] {
              const JobControl job;
              ::kill(::getpid(), SIGTSTP);
              ::kill(::getpid(), SIGCONT);
              return job.stop_asked() ? 1 : 5;
            }),
            5);
}

TEST(JobControl, LeavesWhatWasBlockedBefore) {
  EXPECT_EQ(in_child([] {
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, SIGTSTP);
              ::sigprocmask(SIG_BLOCK, &set, nullptr);
              const JobControl job;
              ::kill(::getpid(), SIGTSTP);
              if (job.stop_asked()) return 1;
              job.stop();
              return 6;
            }),
            6);
}

}  // namespace
}  // namespace fade
