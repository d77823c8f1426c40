#include "ptrace/launch.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

struct Ran {
  int status = -1, error = 0;
  std::string output;
};

// Without a tracer; the standard output goes through a pipe.
Ran run(LaunchedProgram::Command command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(ends[1], STDOUT_FILENO);
  auto program = LaunchedProgram::fork_waiting(command);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(ends[1]);
  Ran out;
  if (!program) return out;
  program->release();
  char chunk[512];
  for (ssize_t n; (n = ::read(ends[0], chunk, sizeof chunk)) > 0;)
    out.output.append(chunk, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(program->pid().value(), &status, 0);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  out.error = program->exec_errno();
  return out;
}

TEST(LaunchedProgram, RunsWithItsArgumentsEnvironmentAndDirectory) {
  const Ran ran = run({{"sh", "-c", "echo \"$0 $1 $A\"; pwd; exit 5", "x", "y z"}, {"A=1", "PATH=/nowhere"}, "/usr"});
  EXPECT_EQ(ran.status, 5);
  EXPECT_EQ(ran.error, 0);
  EXPECT_EQ(ran.output, "x y z 1\n/usr\n");
}

TEST(LaunchedProgram, EnvironmentIsTheWholeOfIt) {
  const Ran ran = run({{"env"}, {"ONLY=this"}, {}});
  EXPECT_EQ(ran.output, "ONLY=this\n");
}

TEST(LaunchedProgram, SaysWhyThereWasNoExec) {
  EXPECT_EQ(run({{"/no/such/program"}, {}, {}}).error, ENOENT);
  EXPECT_EQ(run({{"no-such-program-anywhere"}, {}, {}}).error, ENOENT);
  EXPECT_EQ(run({{"/etc/passwd"}, {}, {}}).error, EACCES);
  EXPECT_EQ(run({{"true"}, {}, "/no/such/directory"}).error, ENOENT);
  EXPECT_EQ(run({{"/no/such/program"}, {}, {}}).status, 127);
}

TEST(LaunchedProgram, NothingOfOursIsInherited) {
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);  // what whoever started the tests left open
  const auto command = LaunchedProgram::Command{{"ls", "/proc/self/fd"}, {}, {}};
  // ls itself has the folder open: one more than the three.
  EXPECT_EQ(run(command).output, "0\n1\n2\n3\n");
  Pid pid = 0;
  {
    auto another = LaunchedProgram::fork_waiting({{"true"}, {}, {}});  // its pipes are ours now
    ASSERT_TRUE(another);
    pid = another->pid();
    EXPECT_EQ(run(command).output, "0\n1\n2\n3\n");
  }
  ::waitpid(pid.value(), nullptr, 0);
}

TEST(LaunchedProgram, EndsByItselfWithoutLeave) {
  Pid pid = 0;
  {
    auto program = LaunchedProgram::fork_waiting({{"sleep", "1000"}, {}, {}});
    ASSERT_TRUE(program);
    pid = program->pid();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid.value(), &status, 0), pid.value());
  EXPECT_EQ(WEXITSTATUS(status), 127);
}

// `alarm` and then an exec of us: the alarm is the program's.
TEST(LaunchedProgram, TimersThatWereSetBeforeAreItsOwn) {
  itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 2, .tv_usec = 0}};  // not before they are taken
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_EQ(run({{"sleep", "1000"}, {}, {}}).status, -SIGALRM);
  ::getitimer(ITIMER_REAL, &soon);
  EXPECT_EQ(soon.it_value.tv_sec * 1'000'000 + soon.it_value.tv_usec, 0);
  EXPECT_EQ(run({{"true"}, {}, {}}).status, 0);
}

TEST(LaunchedProgram, SignalMaskAndDispositionsAreThoseOfThisProcess) {
  const Ran ran = run({{"cat", "/proc/self/status"}, {}, {}});
  EXPECT_THAT(ran.output, ::testing::HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(ran.output, ::testing::HasSubstr("SigCgt:\t0000000000000000"));
}

}  // namespace
}  // namespace fade
