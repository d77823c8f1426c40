// The capabilities of the caller, and answers of the real kernel.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "fake_proc.hpp"
#include "supervisor/permission.hpp"

namespace fade {
namespace {

TEST(AskerTest, ReadsCapabilities) {
  const FakeProc proc;
  proc.file("self/status", "CapPrm:\t0000000000080001\nCapEff:\t0000000000000001\nCapBnd:\t0000000000080000\n");
  const Asker asker = Asker::self("fadectl", proc.path());
  EXPECT_FALSE(asker.can_ptrace);
  EXPECT_TRUE(asker.may_gain_ptrace);
  EXPECT_EQ(asker.capabilities, 0x80001u);
  EXPECT_EQ(asker.program, "fadectl");
  EXPECT_EQ(asker.pid, own_pid());
  EXPECT_EQ(asker.uid, ::getuid());
}

// A child of ours that waits to be killed.
struct Child {
  pid_t pid = ::fork();
  Child() {
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
  }
  ~Child() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

TEST(KernelAnswersTest, AsksTheRealKernel) {
  const KernelAnswers kernel = KernelAnswers::real();
  const Child child;
  EXPECT_EQ(kernel.signal(Pid::of(child.pid)), 0);
  EXPECT_EQ(kernel.signal(0x7fffffff), ESRCH);
  EXPECT_EQ(kernel.user_namespace(Pid::of(child.pid)), UserNamespace::Same);
  EXPECT_EQ(kernel.user_namespace(0x7fffffff), UserNamespace::Unknown);
  // Wherever the tests of ptrace/ pass, which start programs the same way; nothing is left to be waited for.
  EXPECT_EQ(kernel.trace_me(), std::optional(0));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), 0) << "only the child that waits is ours";
}

TEST(KernelAnswersTest, ChildOfOursMayBeTraced) {
  const Child child;
  for (const Check& one : check_attach(Pid::of(child.pid), Asker::self()))
    EXPECT_NE(one.verdict, Check::Verdict::Bad) << one.what << ": " << one.cause;
}

}  // namespace
}  // namespace fade
