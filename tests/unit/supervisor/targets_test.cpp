#include "supervisor/targets.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fake_proc.hpp"
#include "supervisor/cgroup.hpp"

namespace fade {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Numbers that no process of the real machine has.
constexpr Pid kA = 5'000'010, kB = 5'000'011, kC = 5'000'012, kD = 5'000'013;
const std::string kId(64, 'a'), kOther = "aaaaaaaa" + std::string(56, 'b');

struct TargetsTest : ::testing::Test {
  FakeProc proc, root;  // root: where the engines' files are

  Result<std::vector<Pid>> find(const TargetWish& wish) const { return find_targets(wish, proc.path(), root.path()); }
  std::vector<Pid> found(const TargetWish& wish) const {
    const auto out = find(wish);
    EXPECT_TRUE(out) << out.error().text();
    return out.value_or(std::vector<Pid>{});
  }
  Error error(const TargetWish& wish) const {
    const auto out = find(wish);
    EXPECT_FALSE(out);
    return out ? Error{} : out.error();
  }
  std::string pidfile(const std::string& content) const {
    root.file("run/it.pid", content);
    return root.path() + "/run/it.pid";
  }
  void command_line(Pid pid, const std::string& words) const { proc.file(fmt::format("{}/cmdline", pid), words); }
  void in_container(Pid pid, const std::string& id) const {
    proc.process(pid);
    proc.file(fmt::format("{}/cgroup", pid), "0::/system.slice/docker-" + id + ".scope\n");
  }
};

TEST_F(TargetsTest, NumbersComeInTheOrderAskedForAndOnce) {
  proc.process(kA);
  proc.process(kB);
  EXPECT_THAT(found({.pids = {kB, kA, kB}}), ElementsAre(kB, kA));
}

TEST_F(TargetsTest, AThreadStandsForItsProcess) {
  proc.process(kA);
  proc.status(kB, {.tgid = kA});
  EXPECT_THAT(found({.pids = {kB}}), ElementsAre(kA));
}

TEST_F(TargetsTest, ANumberThatIsGone) {
  proc.process(kA);
  const Error gone = error({.pids = {kA, kB}});
  EXPECT_EQ(gone.code, ESRCH);
  EXPECT_EQ(gone.message, fmt::format("no process {}", kB));
  EXPECT_EQ(error({.pids = {0}}).code, ESRCH);
  EXPECT_EQ(error({.pids = {-1}}).code, ESRCH);
}

TEST_F(TargetsTest, NothingAskedFor) { EXPECT_EQ(error({}).code, EINVAL); }

TEST_F(TargetsTest, NameIsThatOfTheThreadTheFileOrAnywhereInTheCommandLine) {
  proc.process(kA, {.name = "trainer"});
  proc.process(kB, {.name = "x"});
  std::filesystem::create_symlink("/opt/trainer-7", proc.path() + "/5000011/exe");
  proc.process(kC, {.name = "python3"});
  command_line(kC, std::string("python3\0my trainer.py\0--fast\0", 29));
  proc.process(kD, {.name = "other"});
  std::filesystem::create_symlink("/opt/trainer/bin/other", proc.path() + "/5000013/exe");  // a folder is no name
  EXPECT_THAT(found({.name = "trainer"}), ElementsAre(kA, kB, kC));
  EXPECT_THAT(found({.name = "^python3 my trainer\\.py --fast$"}), ElementsAre(kC));
  EXPECT_THAT(found({.name = "^trainer$"}), ElementsAre(kA));
}

TEST_F(TargetsTest, ByNameNeitherZombiesNorTheKernelNorThreads) {
  proc.process(kA, {.name = "trainer", .state = 'Z'});
  proc.process(kB, {.name = "trainer"});
  proc.stat_flags(kB, 0x200000);
  EXPECT_EQ(error({.name = "trainer"}).code, ESRCH);
  EXPECT_THAT(error({.name = "trainer"}).message, HasSubstr("--name 'trainer'"));
}

TEST_F(TargetsTest, ByNameNeverOurselvesOrOurAncestors) {
  proc.process(own_pid(), {.name = "trainer", .ppid = kA});
  proc.process(kA, {.name = "trainer", .ppid = kB});
  proc.process(kB, {.name = "trainer", .ppid = kA});  // a circle, as no kernel would show
  proc.process(kC, {.name = "trainer", .ppid = own_pid()});
  EXPECT_THAT(found({.name = "trainer"}), ElementsAre(kC));
}

TEST_F(TargetsTest, ABadExpressionIsAUsageError) { EXPECT_EQ(error({.name = "a["}).code, EINVAL); }

TEST_F(TargetsTest, EndlessCommandLinesAreCut) {
  proc.process(kA, {.name = "x"});
  command_line(kA, std::string(3 << 20, 'a') + "needle");
  proc.process(kB, {.name = "x"});
  command_line(kB, "needle" + std::string(3 << 20, 'a'));
  EXPECT_THAT(found({.name = "needle.*"}), ElementsAre(kB));
}

TEST_F(TargetsTest, Pidfile) {
  proc.process(kA);
  for (const char* form : {"{}", "{}\n", "{} \t\r\n\n"})
    EXPECT_THAT(found({.pidfile = pidfile(fmt::format(fmt::runtime(form), kA))}), ElementsAre(kA)) << form;
}

TEST_F(TargetsTest, WhatIsNoPidfile) {
  proc.process(kA);
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("nginx 12"), fmt::format("{} {}", kA, kB),
        fmt::format("{}\n/var/lib/data\n", kA), fmt::format("-{}", kA), std::string("0"),
        std::string("99999999999999999999"), fmt::format("{}\x01", kA), fmt::format("+{}", kA)}) {
    const Error e = error({.pidfile = pidfile(text)});
    EXPECT_EQ(e.code, EINVAL) << text;
    EXPECT_THAT(e.cause, HasSubstr("one process number and nothing else")) << text;
  }
  EXPECT_THAT(error({.pidfile = pidfile(std::to_string(kA.value()) + std::string(4096, '\n'))}).cause,
              HasSubstr("4 KiB"));
}

TEST_F(TargetsTest, PidfileOfAProcessThatIsGone) {
  const Error e = error({.pidfile = pidfile(std::to_string(kA.value()))});
  EXPECT_EQ(e.code, ESRCH);
  EXPECT_THAT(e.message, AllOf(HasSubstr(std::to_string(kA.value())), HasSubstr("it.pid")));
  EXPECT_THAT(e.cause, HasSubstr("leftover"));
}

TEST_F(TargetsTest, PidfilesThatAreNoFiles) {
  EXPECT_EQ(error({.pidfile = root.path() + "/none"}).code, ESRCH);
  EXPECT_EQ(error({.pidfile = root.path()}).code, EINVAL);
  const std::string fifo = root.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(error({.pidfile = fifo}).code, EINVAL);  // and does not wait for a writer
}

TEST_F(TargetsTest, ContainerById) {
  in_container(kA, kId);
  in_container(kB, kOther);
  in_container(kC, kId);
  proc.process(kD);
  EXPECT_THAT(found({.container = kId}), ElementsAre(kA, kC));
  EXPECT_THAT(found({.container = kOther.substr(0, 12)}), ElementsAre(kB));
}

TEST_F(TargetsTest, AnIdThatMayMeanSeveral) {
  in_container(kA, kId);
  in_container(kB, kOther);
  const Error e = error({.container = "aaaaaaaa"});
  EXPECT_EQ(e.code, EINVAL);
  EXPECT_THAT(e.cause, AllOf(HasSubstr(kId), HasSubstr(kOther)));
  EXPECT_EQ(error({.container = "aaaaaaa"}).code, ESRCH);  // too short for an id
}

TEST_F(TargetsTest, ContainersOfNestedEnginesCountForBoth) {
  proc.process(kA);
  proc.file("5000010/cgroup", "0::/docker/" + kId + "/docker/" + kOther + "\n");
  EXPECT_THAT(found({.container = kId}), ElementsAre(kA));
  EXPECT_THAT(found({.container = kOther}), ElementsAre(kA));
}

TEST_F(TargetsTest, ContainerByNameOfSystemdsMachines) {
  proc.process(kA);
  proc.file("5000010/cgroup", "0::/machine.slice/systemd-nspawn@web.service/payload/init.scope\n");
  proc.process(kB);
  proc.file("5000011/cgroup", "0::/machine.slice/systemd-nspawn@web.service/supervisor\n");
  EXPECT_THAT(found({.container = "web"}), ElementsAre(kA));
}

struct EngineCase {
  const char* engine;
  std::string file, content;
};

std::string home() { return std::string(::getpwuid(::geteuid())->pw_dir).substr(1); }

TEST_F(TargetsTest, ContainerByNameThroughTheEnginesFiles) {
  in_container(kA, kId);
  const std::string docker = fmt::format(R"({{"ID":"{}","Name":"/web","State":{{}}}})", kId);
  const std::string storage = fmt::format(R"([{{"id":"x"}},{{"id":"{}","names":["db","web"]}}])", kId);
  const EngineCase cases[] = {
      {"Docker", "var/lib/docker/containers/" + kId + "/config.v2.json", docker},
      {"snap", "var/snap/docker/common/var-lib-docker/containers/x/config.v2.json", docker},
      {"rootless Docker", home() + "/.local/share/docker/containers/x/config.v2.json", docker},
      {"Podman", "var/lib/containers/storage/overlay-containers/containers.json", storage},
      {"Podman, volatile", "var/lib/containers/storage/overlay-containers/volatile-containers.json", storage},
      {"rootless Podman", home() + "/.local/share/containers/storage/vfs-containers/containers.json", storage},
  };
  for (const EngineCase& one : cases) {
    const FakeProc only;
    only.file(one.file, one.content);
    const auto out = find_targets({.container = "web"}, proc.path(), only.path());
    ASSERT_TRUE(out) << one.engine << ": " << out.error().text();
    EXPECT_THAT(*out, ElementsAre(kA)) << one.engine;
    EXPECT_FALSE(find_targets({.container = "we"}, proc.path(), only.path())) << one.engine;
  }
}

TEST_F(TargetsTest, EnginesFilesMayBeNonsense) {
  in_container(kA, kId);
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("null"), std::string(R"({"Name":7,"ID":[]})"),
        std::string(R"([1,{"names":"web"},{"names":[2]},{"id":3,"names":["web"]}])"), std::string(100'000, '[')}) {
    root.file("var/lib/docker/containers/x/config.v2.json", text);
    root.file("var/lib/containers/storage/overlay-containers/containers.json", text);
    EXPECT_EQ(error({.container = "web"}).code, ESRCH) << text.substr(0, 50);
  }
}

TEST_F(TargetsTest, ContainerThatIsNotRunningOrNotKnown) {
  root.file("var/lib/docker/containers/x/config.v2.json", fmt::format(R"({{"ID":"{}","Name":"/web"}})", kId));
  EXPECT_THAT(error({.container = "web"}).cause, HasSubstr("does not run"));
  const Error unknown = error({.container = "db"});
  EXPECT_EQ(unknown.message, "no running container 'db'");
  EXPECT_THAT(unknown.cause, HasSubstr("no file of Docker or Podman names it"));
  EXPECT_THAT(unknown.fix, HasSubstr("docker ps -q --no-trunc -f name=db"));
}

TEST_F(TargetsTest, TwoContainersOfOneName) {
  in_container(kA, kId);
  root.file("var/lib/docker/containers/x/config.v2.json", fmt::format(R"({{"ID":"{}","Name":"/web"}})", kId));
  root.file("var/lib/containers/storage/overlay-containers/containers.json",
            fmt::format(R"([{{"id":"{}","names":["web"]}}])", kOther));
  EXPECT_EQ(error({.container = "web"}).code, EINVAL);
}

TEST_F(TargetsTest, WhereTheEnginesFilesMayNotBeReadItIsSaid) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, who can become someone else";
  root.file("var/lib/docker/containers/x/config.v2.json", "{}");
  std::filesystem::permissions(root.path(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  std::filesystem::permissions(root.path() + "/var/lib/docker", std::filesystem::perms::owner_all);
  ASSERT_EQ(::seteuid(65534), 0);
  const auto out = find({.container = "web"});
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().cause, AllOf(HasSubstr("/var/lib/docker/containers"), HasSubstr("give the id")));
}

TEST_F(TargetsTest, TreeAddsLivingDescendants) {
  proc.process(kD, {.ppid = kA});
  proc.process(kA);
  proc.process(kB, {.ppid = kD});
  proc.process(kC, {.state = 'Z', .ppid = kD});
  EXPECT_THAT(found({.pids = {kA}, .tree = true}), ElementsAre(kA, kB, kD));
  EXPECT_THAT(found({.pids = {kD, kA}, .tree = true}), ElementsAre(kD, kA, kB));
  EXPECT_THAT(found({.pids = {kA}}), ElementsAre(kA));
}

TEST_F(TargetsTest, ATreeThatWeAreInIsWithoutUs) {
  proc.process(kA);
  proc.process(own_pid(), {.ppid = kA});
  proc.process(kB, {.ppid = own_pid()});
  EXPECT_THAT(found({.pids = {kA}, .tree = true}), ElementsAre(kA, kB));
}

// As the first process of docker run --init.
TEST_F(TargetsTest, ProgramsThatCannotLoadHipAreLeftOutUnlessAskedFor) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  header.e_phentsize = sizeof(Elf64_Phdr);
  const std::string is_static(reinterpret_cast<const char*>(&header), sizeof header);
  in_container(kA, kId);
  proc.file(fmt::format("{}/exe", kA), is_static);
  EXPECT_THAT(found({.container = kId}), ElementsAre(kA));  // nobody else: hears why not
  in_container(kB, kId);
  proc.process(kB, {.ppid = kA});
  EXPECT_THAT(found({.container = kId}), ElementsAre(kB));
  EXPECT_THAT(found({.name = "python3"}), ElementsAre(kB));
  EXPECT_THAT(found({.pids = {kA}, .tree = true}), ElementsAre(kB));
  EXPECT_THAT(found({.pids = {kB, kA}}), ElementsAre(kB, kA));
}

TEST_F(TargetsTest, CirclesInATreeEnd) {
  proc.process(kA, {.ppid = kB});
  proc.process(kB, {.ppid = kA});
  EXPECT_THAT(found({.pids = {kA}, .tree = true}), ElementsAre(kA, kB));
}

TEST_F(TargetsTest, WithoutProc) {
  EXPECT_EQ(find_targets({.name = "x"}, "/nonexistent", "").error().code, ESRCH);
  EXPECT_EQ(find_targets({.container = "x"}, "/nonexistent", "").error().code, ESRCH);
}

// A real tree that is never the same twice: a root whose child makes short-lived ones without end.
TEST(TargetsOfTheRealMachine, TreeThatComesAndGoes) {
  const pid_t top = ::fork();
  if (top == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t steady = ::fork();
    if (steady == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (steady == 0) ::pause();
    for (;;) {
      if (::fork() == 0) ::_exit(0);
      ::waitpid(-1, nullptr, 0);
    }
  }
  std::vector<Pid> seen;
  for (int i = 0; i < 10'000; ++i) {
    const auto out = find_targets({.pids = {Pid::of(top)}, .tree = true});
    ASSERT_TRUE(out) << out.error().text();
    ASSERT_EQ(out->front(), Pid::of(top));
    ASSERT_THAT(*out, Not(Contains(own_pid())));
    seen = *out;
    if (seen.size() > 1 && i > 20) break;
  }
  EXPECT_GE(seen.size(), 2u);
  ::kill(top, SIGKILL);
  ::waitpid(top, nullptr, 0);
}

struct CgroupCase {
  const char* line;
  std::vector<std::string> ids, names;
};
struct CgroupTest : ::testing::TestWithParam<CgroupCase> {};

std::string with_id(std::string text) {
  const auto at = text.find("ID");
  return at == text.npos ? text : text.replace(at, 2, kId);
}

TEST_P(CgroupTest, NamesTheContainer) {
  const CgroupContainers found = containers_in(with_id(GetParam().line));
  EXPECT_EQ(found.ids, GetParam().ids);
  EXPECT_EQ(found.names, GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, CgroupTest,
    ::testing::Values(
        CgroupCase{"12:cpuset:/docker/ID\n", {kId}, {}}, CgroupCase{"0::/system.slice/docker-ID.scope\n", {kId}, {}},
        CgroupCase{"0::/../docker-ID.scope\n", {kId}, {}},
        CgroupCase{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-ID.scope\n", {kId}, {}},
        CgroupCase{"0::/system.slice/nerdctl-ID.scope\n", {kId}, {}},
        CgroupCase{"3:cpu,cpuacct:/kubepods/burstable/pod3f1c2d7e-0d1c-4a9f-b5b0-4d1c5f0f7a11/ID\n", {kId}, {}},
        CgroupCase{
            "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3f1c.slice/cri-containerd-ID.scope\n",
            {kId},
            {}},
        CgroupCase{
            "5:pids:/system.slice/containerd.service/kubepods-burstable-pod3f1c.slice:cri-containerd:ID\n", {kId}, {}},
        CgroupCase{"0::/kubepods.slice/kubepods-pod3f1c.slice/crio-ID.scope/container\n", {kId}, {}},
        CgroupCase{"0::/kubepods.slice/kubepods-pod3f1c.slice/crio-conmon-ID.scope\n", {}, {}},
        CgroupCase{"0::/machine.slice/libpod-ID.scope/container\n", {kId}, {}},
        CgroupCase{"0::/machine.slice/libpod-conmon-ID.scope\n", {}, {}},
        CgroupCase{"7:memory:/libpod_parent/libpod-ID\n", {kId}, {}},
        CgroupCase{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope\n", {kId}, {}},
        CgroupCase{"1:name=systemd:/docker/ID\n2:cpu:/docker/ID\n0::/\n", {kId}, {}},
        CgroupCase{"0::/machine.slice/machine-my\\x2dbox.scope\n", {}, {"my-box"}},
        CgroupCase{"0::/machine.slice/machine-odd\\xzz\\x2.scope\n", {}, {"odd\\xzz\\x2"}},
        CgroupCase{"0::/machine.slice/machine-.scope\n", {}, {}}, CgroupCase{"4:freezer:/lxc/box\n", {}, {"box"}},
        CgroupCase{"0::/lxc.payload.box/system.slice\n", {}, {"box"}}, CgroupCase{"0::/lxc.monitor.box\n", {}, {}},
        CgroupCase{"0::/user.slice/user-0.slice/session-1.scope\n", {}, {}},
        CgroupCase{"0::/system.slice/docker.service\n", {}, {}}, CgroupCase{"0::/docker/IDa\n", {}, {}},  // 65 digits
        CgroupCase{"0::/\n", {}, {}}, CgroupCase{"", {}, {}}, CgroupCase{"nonsense", {}, {}},
        CgroupCase{":/", {}, {}}));

}  // namespace
}  // namespace fade
