#include "supervisor/permission.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fake_proc.hpp"

namespace fade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verdict = Check::Verdict;

constexpr Pid kPid = 10;
constexpr unsigned kTrap = 1u << (SIGTRAP - 1);

// The start of a program file.
std::string program(unsigned char file_class, unsigned short machine, bool has_loader) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = file_class;
  header.e_machine = machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr segments[2] = {};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = has_loader ? PT_INTERP : PT_DYNAMIC;
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  return out.append(reinterpret_cast<const char*>(segments), sizeof segments);
}

// Files of the test belong to who runs it, so the process of the test does too: that is what "dumpable" is seen by.
struct PermissionTest : ::testing::Test {
  FakeProc proc;
  std::string uid = std::to_string(::geteuid());
  FakeStatus target{.uids = ids(uid), .gids = ids("7")};
  Asker asker{.pid = 5000, .uid = ::geteuid(), .gid = 7, .may_gain_ptrace = true};
  KernelAnswers kernel{.signal = [](Pid) { return ESRCH; },
                       .trace_me = [] { return std::optional(0); },
                       .user_namespace = [](Pid) { return UserNamespace::Same; }};

  static std::string ids(const std::string& id) { return id + "\t" + id + "\t" + id + "\t" + id; }

  void SetUp() override {
    proc.file("10/exe", program(ELFCLASS64, EM_X86_64, true));
    proc.file("self/status", "Name:\tfade-attach\nSeccomp:\t0\n");
    if (::geteuid() == 0) {  // of root's processes nothing is seen: take another user, as whom it is not dumpable
      target.uids = ids("1000");
      asker.uid = 1000;
    }
    proc.process(kPid, target);
  }

  std::vector<Check> check() const { return check_attach(kPid, asker, proc.path(), kernel); }
  Check of(const std::string& what) const {
    for (const Check& one : check())
      if (one.what == what) return one;
    ADD_FAILURE() << "no check '" << what << "'";
    return {};
  }
  Check first_bad() const {
    const auto checks = check();
    const auto it = std::ranges::find(checks, Verdict::Bad, &Check::verdict);
    return it == checks.end() ? Check{} : *it;
  }
  Error explain(int code = EPERM) const {
    return explain_refusal(kPid, {.message = "cannot trace process 10", .cause = "as given", .code = code}, asker,
                           proc.path(), kernel);
  }
  void change(auto&& how) {
    how(target);
    proc.process(kPid, target);
  }
};

TEST_F(PermissionTest, NothingForbidsAHarmlessProcess) {
  asker.can_ptrace = true;
  for (const Check& one : check()) EXPECT_EQ(one.verdict, Verdict::Good) << one.what << ": " << one.cause;
}

TEST_F(PermissionTest, NoSuchProcess) {
  std::filesystem::remove_all(proc.path() + "/10");
  const auto checks = check();
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, Verdict::Bad);
  EXPECT_EQ(checks[0].code, ESRCH);
  EXPECT_THAT(checks[0].cause, HasSubstr("ended"));
}

TEST_F(PermissionTest, AProcessThatProcHides) {
  std::filesystem::remove_all(proc.path() + "/10");
  kernel.signal = [](Pid) { return EPERM; };
  EXPECT_EQ(first_bad().code, EPERM);
  EXPECT_THAT(first_bad().cause, HasSubstr("hidepid"));
  EXPECT_EQ(first_bad().fix, "sudo fade-attach 10");
}

TEST_F(PermissionTest, OneThreadIsNoProcess) {
  change([](FakeStatus& s) { s.tgid = 8; });
  EXPECT_EQ(first_bad().code, ESRCH);
  EXPECT_EQ(first_bad().cause, "it is one thread of process 8");
  EXPECT_EQ(first_bad().fix, "fade-attach 8");
}

TEST_F(PermissionTest, Zombie) {
  change([](FakeStatus& s) { s.state = 'Z'; });
  EXPECT_EQ(first_bad().code, ESRCH);
  EXPECT_THAT(first_bad().cause, AllOf(HasSubstr("zombie"), HasSubstr("process 1,")));
  EXPECT_EQ(check().back().what, "has not ended");
}

TEST_F(PermissionTest, KernelThread) {
  proc.stat_flags(kPid, 0x208040);
  EXPECT_EQ(first_bad().code, ENOTSUP);
  EXPECT_EQ(first_bad().cause, "kernel threads cannot be traced");
}

TEST_F(PermissionTest, OurselvesWeCannotTrace) {
  asker.pid = kPid;
  EXPECT_EQ(first_bad().cause, "it is fade-attach itself");
}

TEST_F(PermissionTest, AnotherTracerIsNamed) {
  change([](FakeStatus& s) { s.tracer = 77; });
  proc.file("77/comm", "gdb\n");
  EXPECT_EQ(first_bad().cause, "it is already traced by process 77 (gdb)");
  EXPECT_EQ(first_bad().fix, "make gdb detach, then: fade-attach 10");
  EXPECT_EQ(first_bad().code, EPERM);
}

TEST_F(PermissionTest, WhatWeTraceAlreadyIsNoObstacle) {
  change([&](FakeStatus& s) { s.tracer = leader_of(asker.pid); });
  EXPECT_EQ(of("is not traced by another program").verdict, Verdict::Good);
}

TEST_F(PermissionTest, NameOfTheTracerCannotReachTheTerminal) {
  change([](FakeStatus& s) { s.tracer = 77; });
  proc.file("77/comm", "\x1b[31mx\n\xff" + std::string(100'000, 'y') + "\n");
  EXPECT_THAT(first_bad().cause, HasSubstr("(\\x1b[31mx\\x0a\\xffyyy"));
  EXPECT_LT(first_bad().cause.size(), 300u);
}

// The name of a process may try to look like a field.
TEST_F(PermissionTest, NameOfTheProcessIsNoField) {
  change([](FakeStatus& s) { s.name = "TracerPid:\t5"; });
  EXPECT_EQ(of("is not traced by another program").verdict, Verdict::Good);
}

struct ProgramCase {
  const char* what;
  unsigned char file_class;
  unsigned short machine;
  bool has_loader;
  const char* cause;
};
struct ProgramTest : PermissionTest, ::testing::WithParamInterface<ProgramCase> {};

TEST_P(ProgramTest, IsNotSupported) {
  const ProgramCase& it = GetParam();
  proc.file("10/exe", program(it.file_class, it.machine, it.has_loader));
  EXPECT_EQ(of(it.what).verdict, Verdict::Bad);
  EXPECT_EQ(of(it.what).code, ENOTSUP);
  EXPECT_THAT(of(it.what).cause, HasSubstr(it.cause));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ProgramTest,
    ::testing::Values(ProgramCase{"is a 64-bit x86 program", ELFCLASS32, EM_386, true, "32-bit"},
                      ProgramCase{"is a 64-bit x86 program", ELFCLASS32, EM_X86_64, true, "32-bit"},  // x32
                      ProgramCase{"is a 64-bit x86 program", ELFCLASS64, EM_AARCH64, true,
                                  "not a program for 64-bit x86"},
                      ProgramCase{"is dynamically linked", ELFCLASS64, EM_X86_64, false, "static"}));

// "ld.so PROGRAM": the loader names no loader, but it is a library with a name, as no static program is.
TEST_F(PermissionTest, TheLoaderRunAsAProgram) {
  std::string loader = program(ELFCLASS64, EM_X86_64, false);
  const Elf64_Dyn entries[] = {{DT_STRTAB, {0}}, {DT_SONAME, {1}}, {DT_NULL, {0}}};
  const std::uint64_t offset = loader.size();
  std::memcpy(loader.data() + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset), &offset,
              sizeof offset);
  loader.append(reinterpret_cast<const char*>(entries), sizeof entries);
  proc.file("10/exe", loader);
  EXPECT_EQ(of("is dynamically linked").verdict, Verdict::Good);
  loader[offset + sizeof(Elf64_Dyn)] = DT_FINI;
  proc.file("10/exe", loader);
  EXPECT_EQ(of("is dynamically linked").verdict, Verdict::Bad);
}

TEST_F(PermissionTest, ProgramFilesMayBeNonsense) {
  std::string endless = program(ELFCLASS64, EM_X86_64, false);
  endless[offsetof(Elf64_Ehdr, e_phnum)] = endless[offsetof(Elf64_Ehdr, e_phnum) + 1] = '\xff';
  proc.file("10/exe", endless);
  EXPECT_EQ(of("is dynamically linked").verdict, Verdict::Bad);
  std::string far = program(ELFCLASS64, EM_X86_64, true);
  std::memset(far.data() + offsetof(Elf64_Ehdr, e_phoff), 0xff, 8);
  proc.file("10/exe", far);
  EXPECT_EQ(of("is dynamically linked").verdict, Verdict::Bad);
  proc.file("10/exe", "#!/bin/sh\n");
  EXPECT_EQ(of("is a 64-bit x86 program").code, ENOTSUP);
  std::filesystem::remove(proc.path() + "/10/exe");
  EXPECT_EQ(of("is a 64-bit x86 program").verdict, Verdict::Unknown);
}

TEST_F(PermissionTest, AnotherUser) {
  change([](FakeStatus& s) { s.uids = ids("4000000"); });
  EXPECT_EQ(first_bad().code, EPERM);
  EXPECT_THAT(first_bad().cause, AllOf(HasSubstr("belongs to uid 4000000"), HasSubstr(std::to_string(asker.uid))));
  EXPECT_EQ(first_bad().fix, "sudo fade-attach 10");
  asker.program = "fadectl attach";
  EXPECT_EQ(first_bad().fix, "sudo fadectl attach 10");
  asker.can_ptrace = true;
  EXPECT_EQ(first_bad().what, "");
}

TEST_F(PermissionTest, UsersAreNamed) {
  change([](FakeStatus& s) { s.uids = ids("0"); });
  asker.uid = 4'000'000;
  EXPECT_THAT(first_bad().cause, HasSubstr("belongs to user root (uid 0)"));
}

TEST_F(PermissionTest, EveryOneOfTheThreeIdsCounts) {
  const std::string own = std::to_string(asker.uid);
  for (int place = 0; place < 3; ++place) {
    std::string one[3] = {own, own, own}, group[3] = {"7", "7", "7"};
    one[place] = "4000000";
    change(
        [&](FakeStatus& s) { s.uids = fmt::format("{}\t{}\t{}\t{}", one[0], one[1], one[2], own), s.gids = ids("7"); });
    EXPECT_THAT(first_bad().cause, HasSubstr("set-uid")) << place;
    group[place] = "4000000";
    change(
        [&](FakeStatus& s) { s.uids = ids(own), s.gids = fmt::format("{}\t{}\t{}\t7", group[0], group[1], group[2]); });
    EXPECT_THAT(first_bad().cause, HasSubstr("set-uid")) << place;
  }
  change([&](FakeStatus& s) { s.gids = ids("8"); });
  EXPECT_EQ(first_bad().cause, "it belongs to group 8, and this is group 7");
}

TEST_F(PermissionTest, YamaOneAllowsDescendantsOnly) {
  proc.file("sys/kernel/yama/ptrace_scope", "1\n");
  Check yama = of("Yama allows tracing it");
  EXPECT_EQ(yama.cause, "kernel.yama.ptrace_scope is 1 - only a parent may trace a process (Ubuntu's default)");
  EXPECT_THAT(yama.fix, AllOf(HasSubstr("sudo fade-attach 10"), HasSubstr("sudo sysctl kernel.yama.ptrace_scope=0"),
                              HasSubstr("fade-run")));
  change([](FakeStatus& s) { s.ppid = 11; });
  proc.status(11, {.ppid = asker.pid});
  EXPECT_EQ(of("Yama allows tracing it").verdict, Verdict::Good);
  proc.status(11, {.ppid = 12});
  proc.status(12, {.ppid = 11});  // a circle, as no kernel would show
  EXPECT_EQ(of("Yama allows tracing it").verdict, Verdict::Bad);
  asker.can_ptrace = true;
  EXPECT_EQ(of("Yama allows tracing it").verdict, Verdict::Good);
}

TEST_F(PermissionTest, YamaTwoWantsTheCapability) {
  proc.file("sys/kernel/yama/ptrace_scope", "2\n");
  EXPECT_THAT(of("Yama allows tracing it").cause, HasSubstr("ptrace_scope is 2"));
  EXPECT_EQ(of("CAP_SYS_PTRACE held, or not needed").verdict, Verdict::Bad);
  asker.can_ptrace = true;
  EXPECT_EQ(of("Yama allows tracing it").verdict, Verdict::Good);
}

TEST_F(PermissionTest, YamaThreeForbidsEverythingToEveryone) {
  proc.file("sys/kernel/yama/ptrace_scope", "3\n");
  asker.can_ptrace = true;
  kernel.trace_me = [] { return std::optional(EPERM); };
  EXPECT_THAT(of("Yama allows tracing it").cause, HasSubstr("until the next boot"));
  EXPECT_EQ(of("ptrace is allowed here").verdict, Verdict::Unknown);
  EXPECT_EQ(of("CAP_SYS_PTRACE held, or not needed").verdict, Verdict::Good);
}

TEST_F(PermissionTest, YamaOfNoLevelOrUnreadable) {
  for (const char* text : {"0\n", "", "nonsense"}) {
    proc.file("sys/kernel/yama/ptrace_scope", text);
    EXPECT_EQ(of("Yama allows tracing it").verdict, Verdict::Good) << text;
  }
}

TEST_F(PermissionTest, UserNamespaces) {
  const auto verdict = [&](UserNamespace where, bool can_ptrace) {
    kernel.user_namespace = [where](Pid) { return where; };
    asker.can_ptrace = can_ptrace;
    return of("our rights count in its user namespace").verdict;
  };
  EXPECT_EQ(verdict(UserNamespace::Same, false), Verdict::Good);
  EXPECT_EQ(verdict(UserNamespace::Nested, true), Verdict::Good);
  EXPECT_EQ(verdict(UserNamespace::Nested, false), Verdict::Bad);
  EXPECT_EQ(verdict(UserNamespace::NestedOwned, false), Verdict::Good);
  EXPECT_EQ(verdict(UserNamespace::Foreign, true), Verdict::Bad);
  EXPECT_THAT(of("CAP_SYS_PTRACE held, or not needed").cause, HasSubstr("own user namespace only"));
  EXPECT_EQ(verdict(UserNamespace::Unknown, true), Verdict::Unknown);
}

TEST_F(PermissionTest, WhatTheKernelKeepsClosedForNoReasonThatIsSeen) {
  asker.can_ptrace = true;
  kernel.user_namespace = [](Pid) { return UserNamespace::Closed; };
  EXPECT_EQ(first_bad().what, "the kernel lets us look into it");
  EXPECT_THAT(first_bad().cause, HasSubstr("security module"));
  change([](FakeStatus& s) { s.tracer = 77; });  // a better reason
  EXPECT_EQ(of("the kernel lets us look into it").verdict, Verdict::Unknown);
}

// Of someone who made the namespace: the users in it are not the maker, and still are no obstacle.
TEST_F(PermissionTest, MakerOfTheNamespaceMayCrossUsers) {
  change([](FakeStatus& s) { s.uids = ids("4000000"), s.capabilities = ~0ull; });
  kernel.user_namespace = [](Pid) { return UserNamespace::NestedOwned; };
  EXPECT_EQ(first_bad().what, "");
}

// The files of a process that is not dumpable belong to another: here to whoever runs the test.
TEST_F(PermissionTest, NotDumpable) {
  const std::string other = ::geteuid() == 1000 ? "1001" : "1000";
  change([&](FakeStatus& s) { s.uids = ids(other); });
  asker.uid = static_cast<uid_t>(std::stoul(other));
  EXPECT_EQ(first_bad().what, "core dumps allowed (dumpable)");
  EXPECT_THAT(first_bad().cause, HasSubstr("not dumpable"));
  EXPECT_EQ(first_bad().fix, "sudo fade-attach 10");
  asker.can_ptrace = true;
  EXPECT_EQ(of("core dumps allowed (dumpable)").verdict, Verdict::Good);
}

TEST_F(PermissionTest, OfRootsProcessesItIsNotSeen) {
  change([](FakeStatus& s) { s.uids = ids("0"); });
  asker.uid = 0;
  EXPECT_EQ(of("core dumps allowed (dumpable)").verdict, Verdict::Unknown);
}

TEST_F(PermissionTest, MoreCapabilitiesThanOurs) {
  change([](FakeStatus& s) { s.capabilities = 0x3000; });
  asker.capabilities = 0x1000;
  EXPECT_THAT(of("holds no capability that we lack").cause, HasSubstr("0x2000"));
  asker.capabilities = 0x7000;
  EXPECT_EQ(of("holds no capability that we lack").verdict, Verdict::Good);
}

TEST_F(PermissionTest, TracingForbiddenAltogether) {
  asker.can_ptrace = true;
  kernel.trace_me = [] { return std::optional(EPERM); };
  EXPECT_EQ(first_bad().what, "ptrace is allowed here");
  EXPECT_THAT(first_bad().cause, HasSubstr("security module"));
  proc.file("self/status", "Name:\tfade-attach\nSeccomp:\t2\n");
  EXPECT_THAT(first_bad().cause, HasSubstr("seccomp filter"));
  EXPECT_THAT(first_bad().fix, HasSubstr("--cap-add=SYS_PTRACE"));
  kernel.trace_me = [] { return std::optional<int>(); };
  EXPECT_EQ(of("ptrace is allowed here").verdict, Verdict::Unknown);
}

TEST_F(PermissionTest, InAContainerThatHasTheCapability) {
  change([](FakeStatus& s) { s.uids = ids("4000000"); });
  proc.file("self/root/.dockerenv", "");
  const Check capability = of("CAP_SYS_PTRACE held, or not needed");
  EXPECT_THAT(capability.cause,
              AllOf(HasSubstr("in this container (/.dockerenv exists)"), HasSubstr("does not hold it")));
  EXPECT_THAT(capability.fix,
              AllOf(HasSubstr("sudo fade-attach 10"), HasSubstr("docker exec -u 0 CONTAINER fade-attach 10")));
}

TEST_F(PermissionTest, InAContainerThatLacksTheCapability) {
  change([](FakeStatus& s) { s.uids = ids("4000000"), s.gids = ids("4000001"); });
  proc.file("self/cgroup", "0::/system.slice/docker-" + std::string(64, 'a') + ".scope\n");
  asker.may_gain_ptrace = false;
  const Check capability = of("CAP_SYS_PTRACE held, or not needed");
  EXPECT_THAT(capability.cause, AllOf(HasSubstr("/proc/self/cgroup names one"), HasSubstr("bounding set")));
  EXPECT_THAT(capability.fix, AllOf(HasSubstr("--cap-add=SYS_PTRACE"), HasSubstr("--profile=general")));
  asker.uid = 0;  // root of such a container is not allowed to cross users, but to become one
  EXPECT_EQ(first_bad().fix, "setpriv --reuid=4000000 --regid=4000001 --clear-groups fade-attach 10");
}

TEST_F(PermissionTest, FirstProcessTellsOfAContainer) {
  change([](FakeStatus& s) { s.uids = ids("4000000"); });
  asker.may_gain_ptrace = false;
  proc.file("1/environ", std::string("PATH=/bin\0container=podman\0", 27));
  EXPECT_THAT(of("CAP_SYS_PTRACE held, or not needed").cause, HasSubstr("process 1"));
  proc.file("1/environ", std::string("PATH=/bin\0nocontainer=1\0", 24));
  EXPECT_THAT(of("CAP_SYS_PTRACE held, or not needed").cause, HasSubstr("can have it here"));
  EXPECT_THAT(first_bad().fix, HasSubstr("CapabilityBoundingSet"));
}

TEST_F(PermissionTest, SeccompIsToldPerThread) {
  proc.status(kPid, {.seccomp = 2}, "task/11/status");
  EXPECT_EQ(of("no seccomp filter in the way").verdict, Verdict::Unknown);
  EXPECT_THAT(of("no seccomp filter in the way").cause, HasSubstr("mmap"));
  proc.status(kPid, {.seccomp = 1}, "task/12/status");
  EXPECT_EQ(of("no seccomp filter in the way").code, ENOTSUP);
}

TEST_F(PermissionTest, SigtrapBlockedOrHandled) {
  proc.status(kPid, {.blocked = kTrap | 1}, "task/11/status");
  Check trap = of("SIGTRAP is free");
  EXPECT_EQ(trap.verdict, Verdict::Unknown);
  EXPECT_THAT(trap.cause, AllOf(HasSubstr("it blocks SIGTRAP in 1 of 2 threads"), HasSubstr("covered")));
  change([](FakeStatus& s) { s.caught = kTrap; });
  EXPECT_THAT(of("SIGTRAP is free").cause, HasSubstr("it has a handler for SIGTRAP and blocks SIGTRAP in 1 of 2"));
  change([](FakeStatus& s) { s.caught = 0, s.ignored = kTrap; });
  EXPECT_THAT(of("SIGTRAP is free").cause, HasSubstr("it ignores SIGTRAP"));
  change([](FakeStatus& s) { s.ignored = ~kTrap, s.caught = ~kTrap; });
  proc.status(kPid, {.blocked = ~kTrap}, "task/11/status");
  EXPECT_EQ(of("SIGTRAP is free").verdict, Verdict::Good);
}

TEST_F(PermissionTest, Stopped) {
  change([](FakeStatus& s) { s.state = 'T'; });
  EXPECT_EQ(of("is running, not stopped").verdict, Verdict::Unknown);
  EXPECT_EQ(of("is running, not stopped").fix, "kill -CONT 10");
}

// A list of groups as long as the kernel allows stands before the signal masks.
TEST_F(PermissionTest, LongStatusFilesAreReadToTheEnd) {
  std::string groups;
  for (int i = 0; i < 65'536; ++i) groups += std::to_string(1'000'000 + i) + " ";
  proc.file("10/status",
            "Name:\tx\nState:\tT (stopped)\nTgid:\t10\nGroups:\t" + groups + "\nSigCgt:\t0000000000000010\n");
  EXPECT_THAT(of("SIGTRAP is free").cause, HasSubstr("handler"));
}

TEST_F(PermissionTest, EmptyAndEndlessFiles) {
  proc.file("10/status", "Name");
  EXPECT_FALSE(check().empty());
  proc.file("10/status", std::string(5 << 20, 'x'));
  EXPECT_FALSE(check().empty());
}

TEST_F(PermissionTest, ExplainsWithTheFirstBadCheck) {
  change([](FakeStatus& s) { s.tracer = 77; });
  proc.file("77/comm", "gdb\n");
  proc.file("sys/kernel/yama/ptrace_scope", "3\n");
  const Error error = explain();
  EXPECT_EQ(error.message, "cannot trace process 10 (python3): Operation not permitted");
  EXPECT_EQ(error.cause, "it is already traced by process 77 (gdb)");
  EXPECT_EQ(error.code, EPERM);
  EXPECT_EQ(error.fix, "make gdb detach, then: fade-attach 10");
  asker.program = "fade-run";
  EXPECT_EQ(explain().fix, "end that tracer, or run fade-run outside of it");
}

TEST_F(PermissionTest, ExplainsTheKindOfRefusal) {
  change([](FakeStatus& s) { s.state = 'Z'; });
  EXPECT_EQ(explain(EPERM).code, ESRCH);
  proc.stat_flags(kPid, 0x208040);
  change([](FakeStatus& s) { s.state = 'S'; });
  proc.stat_flags(kPid, 0x208040);
  EXPECT_EQ(explain(EPERM).code, ENOTSUP);
}

TEST_F(PermissionTest, WhereNoRuleExplainsItThatIsSaid) {
  asker.can_ptrace = true;
  EXPECT_THAT(explain().cause, AllOf(HasSubstr("security module"), HasSubstr("PID namespace")));
  EXPECT_EQ(explain().code, EPERM);
  EXPECT_EQ(explain(EACCES).code, EPERM);
  EXPECT_EQ(explain(ESRCH).cause, "it has just ended");
  EXPECT_EQ(explain(ESRCH).code, ESRCH);
}

TEST_F(PermissionTest, OtherErrorsAreLeftAsTheyAre) {
  change([](FakeStatus& s) { s.tracer = 77; });
  EXPECT_EQ(explain(EIO).cause, "as given");
  EXPECT_EQ(explain(EIO).message, "cannot trace process 10");
}

TEST_F(PermissionTest, WithoutProcItStillSaysSomething) {
  const KernelAnswers there{
      .signal = [](Pid) { return 0; }, .trace_me = kernel.trace_me, .user_namespace = kernel.user_namespace};
  const Error error = explain_refusal(kPid, {.message = "no", .code = EPERM}, asker, "/nonexistent", there);
  EXPECT_FALSE(error.cause.empty());
  EXPECT_EQ(error.message, "no: Operation not permitted");
}

}  // namespace
}  // namespace fade
