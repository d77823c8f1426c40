// Rows about tracing: ptrace, Yama, capabilities, seccomp, security modules, clock.
#include <cerrno>

#include "fake_machine.hpp"

namespace fade::doctor {
namespace {

constexpr const char* kYama = "/proc/sys/kernel/yama/ptrace_scope";
constexpr const char* kSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

TEST_F(FakeMachine, AllIsWellButHip) {
  for (const Line& line : examine(x)) {
    if (line.group == "HIP") continue;
    EXPECT_TRUE(line.verdict == Verdict::Ok || line.name == "container") << line.name << ": " << line.text;
  }
}

TEST_F(FakeMachine, GroupsAreTogether) {
  std::vector<std::string_view> seen;
  for (const Row& row : rows())
    if (seen.empty() || seen.back() != row.group) {
      EXPECT_THAT(seen, ::testing::Not(::testing::Contains(row.group)));
      seen.push_back(row.group);
    }
}

TEST_F(FakeMachine, PtraceIsForbidden) {
  trace_me = EPERM;
  EXPECT_THAT(line("ptrace"), Refuses("ptrace is forbidden here altogether", "setsebool deny_ptrace off"));
  EXPECT_THAT(line("seccomp"), Ok("no filter"));
}

TEST_F(FakeMachine, SeccompForbidsPtrace) {
  process(kFade, "Seccomp:\t2\n");
  EXPECT_THAT(line("seccomp"), Ok("ptrace passes it"));
  trace_me = EPERM;
  EXPECT_THAT(line("ptrace"), Refuses("a seccomp filter", "--cap-add=SYS_PTRACE"));
  EXPECT_THAT(line("seccomp"), Refuses("forbids ptrace", "--cap-add=SYS_PTRACE"));
}

TEST_F(FakeMachine, FadeIsTracedItself) {
  trace_me = std::nullopt;
  EXPECT_THAT(line("ptrace"), None("cannot be tried"));
}

TEST_F(FakeMachine, YamaLevels) {
  EXPECT_THAT(line("Yama"), Ok("processes of the same user"));
  file(kYama, "1\n");
  EXPECT_THAT(line("Yama"), Warns("fade-run works, fade-attach needs CAP_SYS_PTRACE", "sudo fade-attach PID"));
  file(kYama, "2\n");
  EXPECT_THAT(line("Yama"), Refuses("tracing needs CAP_SYS_PTRACE", "sysctl kernel.yama.ptrace_scope=1"));
  file(kYama, "3\n");
  EXPECT_THAT(line("Yama"), Refuses("off until the next boot", "reboot"));
  x.asker.can_ptrace = true;
  EXPECT_EQ(line("Yama").verdict, Verdict::Problem);
  file(kYama, "2\n");
  EXPECT_THAT(line("Yama"), Ok("ptrace_scope is 2, and CAP_SYS_PTRACE is held"));
}

TEST_F(FakeMachine, YamaOneLetsAProgramBeRun) {
  file(kYama, "1\n");
  x.program = "/bin/true";
  EXPECT_THAT(line("Yama"), Ok("a child may be traced"));
}

TEST_F(FakeMachine, ContainerWithoutTheCapability) {
  x.asker.may_gain_ptrace = false;
  file("/.dockerenv", "");
  EXPECT_THAT(line("capability"), Warns("in this container", "--cap-add=SYS_PTRACE"));
  EXPECT_THAT(line("container"), Ok("/.dockerenv exists"));
  remove("/.dockerenv");
  EXPECT_THAT(line("capability"), Warns("in this session", "CapabilityBoundingSet"));
}

TEST_F(FakeMachine, CapabilityHeldOrKeptAway) {
  EXPECT_THAT(line("capability"), Ok("not held; it is needed for other users"));
  process(kFade, "NoNewPrivs:\t1\n");
  EXPECT_THAT(line("capability"), Warns("no_new_privs", "allowPrivilegeEscalation"));
  x.asker.can_ptrace = true;
  EXPECT_THAT(line("capability"), Ok("is held"));
}

TEST_F(FakeMachine, SecurityModules) {
  file("/proc/self/attr/current", "docker-default (enforce)\n");
  EXPECT_THAT(line("security"),
              Ok("active: capability,yama,apparmor; label of this process: docker-default (enforce)"));
  x.kernel.security_modules.clear();
  EXPECT_THAT(line("security"), None("unknown"));
  file("/sys/fs/selinux/booleans/deny_ptrace", "1 1");
  EXPECT_THAT(line("security"), Refuses("deny_ptrace is on", "setsebool deny_ptrace off"));
}

TEST_F(FakeMachine, UnstableClock) {
  file(kSource, "hpet\n");
  EXPECT_THAT(line("clock"), Warns("clock source is hpet", "recorded with breakpoints"));
  file(kSource, "kvm-clock\n");
  EXPECT_THAT(line("clock"), Ok("kvm-clock"));
  file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n");
  EXPECT_THAT(line("clock"), Warns("nonstop_tsc", "nothing needs to be done"));
}

TEST_F(FakeMachine, RulesForAProcess) {
  process(kProcess);
  x.pid = kProcess;
  x.asker.can_ptrace = true;
  EXPECT_THAT(line("attach"), Ok("rules allow it (fade-attach --check 42 lists them)"));
  EXPECT_THAT(lines("Yama"), ::testing::IsEmpty()) << "the rules have it";
  process(kProcess, "Seccomp:\t2\n");
  file("/proc/42/task/42/status", "Seccomp:\t2\n");
  EXPECT_THAT(lines("attach"), ::testing::Contains(Warns("seccomp filter", "fade-run")));
  remove("/proc/42");
  EXPECT_THAT(line("attach"), Refuses("it has ended, or it lives in another PID namespace", "ps -e"));
}

TEST_F(FakeMachine, RulesThatOneStepMendsAreOneLine) {
  process(kProcess);
  x.pid = kProcess;
  x.asker.uid = x.asker.gid = 7;
  const auto found = lines("attach");
  ASSERT_EQ(found.size(), 2u) << "the rules that allow it, and the first that does not";
  EXPECT_THAT(found[1], Refuses("it belongs to", "sudo fade-attach 42"));
}

TEST_F(FakeMachine, Versions) {
  EXPECT_THAT(line("kernel"), Ok("6.8.0, Debian GNU/Linux 12"));
  EXPECT_THAT(line("ROCm"), Ok("6.4.3-128 in /opt/rocm-6.4.3"));
  remove("/opt");
  EXPECT_THAT(line("ROCm"), None("no release"));
}

}  // namespace
}  // namespace fade::doctor
