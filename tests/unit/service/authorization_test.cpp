// Who may have what traced: the rule, each part of it alone, and what /proc is read for it.
#include "service/authorization.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <functional>

#include "support.hpp"

namespace fade::service {
namespace {

constexpr NamespaceId kOurs{1, 2}, kTheirs{1, 3};
constexpr ipc::Peer kUser{7, 1000, 1000}, kOther{7, 1001, 1001}, kRoot{7, 0, 0};

ProcessStatus usual() {
  return {.pid = 100,
          .group = 100,
          .state = 'S',
          .name = "train",
          .uids = {1000, 1000, 1000, 1000},
          .gids = {1000, 1000, 1000, 1000},
          .start_ticks = 5,
          .has_program = true,
          .dumpable = true,
          .user_namespace = kOurs};
}

struct Case {
  const char* what;
  std::function<void(ProcessStatus&)> change;
  int code;       // for its user
  int root_code;  // for root
};
class Rule : public testing::TestWithParam<Case> {};

TEST_P(Rule, IsAppliedToUsersAndToRoot) {
  ProcessStatus status = usual();
  GetParam().change(status);
  const auto user = may_trace(kUser, status, kOurs, 0), root = may_trace(kRoot, status, kOurs, 0);
  EXPECT_EQ(user ? 0 : user.error().code, GetParam().code);
  EXPECT_EQ(root ? 0 : root.error().code, GetParam().root_code);
}

INSTANTIATE_TEST_SUITE_P(
    Authorization, Rule,
    testing::Values(Case{"nothing", [](ProcessStatus&) {}, 0, 0},
                    Case{"real uid", [](ProcessStatus& s) { s.uids[0] = 0; }, EPERM, 0},
                    Case{"effective uid", [](ProcessStatus& s) { s.uids[1] = 0; }, EPERM, 0},
                    Case{"saved uid", [](ProcessStatus& s) { s.uids[2] = 0; }, EPERM, 0},
                    Case{"uid of files", [](ProcessStatus& s) { s.uids[3] = 0; }, EPERM, 0},
                    Case{"real gid", [](ProcessStatus& s) { s.gids[0] = 0; }, EPERM, 0},
                    Case{"effective gid", [](ProcessStatus& s) { s.gids[1] = 0; }, EPERM, 0},
                    Case{"saved gid", [](ProcessStatus& s) { s.gids[2] = 0; }, EPERM, 0},
                    Case{"not dumpable", [](ProcessStatus& s) { s.dumpable = false; }, EPERM, 0},
                    Case{"another user namespace", [](ProcessStatus& s) { s.user_namespace = kTheirs; }, EPERM, 0},
                    Case{"an unknown user namespace", [](ProcessStatus& s) { s.user_namespace = {}; }, EPERM, 0},
                    Case{"kernel thread", [](ProcessStatus& s) { s.has_program = false; }, ENOTSUP, ENOTSUP},
                    Case{"zombie", [](ProcessStatus& s) { s.state = 'Z'; }, ESRCH, ESRCH},
                    Case{"thread", [](ProcessStatus& s) { s.group = 99; }, ESRCH, ESRCH}),
    [](const auto& test) {
      std::string name = test.param.what;
      for (char& c : name)
        if (c == ' ') c = '_';
      return name;
    });

TEST(Authorization, NobodyElseMay) { EXPECT_EQ(may_trace(kOther, usual(), kOurs, 0).error().code, EPERM); }

TEST(Authorization, YamaIsTheAdministratorsWord) {
  EXPECT_TRUE(may_trace(kUser, usual(), kOurs, 1));
  EXPECT_EQ(may_trace(kUser, usual(), kOurs, 2).error().code, EPERM);
  EXPECT_TRUE(may_trace(kRoot, usual(), kOurs, 2));
  EXPECT_EQ(may_trace(kRoot, usual(), kOurs, 3).error().code, EPERM);
}

TEST(Authorization, AMessageHoldsNothingThatSteersATerminal) {
  ProcessStatus status = usual();
  status.name = "x\x1b[2J\n";
  EXPECT_EQ(may_trace(kOther, status, kOurs, 0).error().message.find_first_of("\x1b\n"), std::string::npos);
}

TEST(ProcessStatus, IsReadWhole) {
  const test::Folder proc;
  test::FakeProcess{.name = "a) b (", .uids = "1\t2\t3\t4", .gids = "5\t6\t7\t8", .start = 99}.put(proc);
  const auto status = read_status(100, proc.path);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->name, "a) b (");
  EXPECT_EQ(status->uids, (std::array<uid_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(status->gids, (std::array<gid_t, 4>{5, 6, 7, 8}));
  EXPECT_EQ(status->start_ticks, 99u);
  EXPECT_TRUE(status->has_program);
  EXPECT_NE(status->user_namespace, NamespaceId{});
}

TEST(ProcessStatus, WhoOwnsItsFilesSaysWhetherItIsDumpable) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const test::Folder proc;
  const std::string folder = test::FakeProcess{}.put(proc);
  EXPECT_FALSE(read_status(100, proc.path)->dumpable);  // root's, as the kernel has it for one that is not
  ASSERT_EQ(::chown((folder + "/environ").c_str(), 1000, 1000), 0);
  EXPECT_TRUE(read_status(100, proc.path)->dumpable);
}

TEST(ProcessStatus, WhatIsCutOffIsNoProcess) {
  const test::Folder proc;
  const std::string folder = test::FakeProcess{}.put(proc);
  for (const char* text : {"", "Name:\tx\n", "Name:\tx\nState:\tS\nUid:\t1000\t1000\nGid:\t1\t1\t1\t1\n",
                           "Name:\tx\nState:\tS\nUid:\t-1 99999999999 1 1\nGid:\t1\t1\t1\t1\n"}) {
    test::write(folder + "/status", text);
    const auto status = read_status(100, proc.path);
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().code, ESRCH);
  }
  EXPECT_FALSE(read_status(101, proc.path));
}

// The number was given to another process between two looks.
TEST(Authorization, AnotherProcessOfTheSameNumberIsNotTheOneThatWasAllowed) {
  const test::Folder proc;
  std::filesystem::create_directories(proc.path + "/self/ns");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  test::FakeProcess fake{.pid = pid, .group = pid};
  const std::string folder = fake.put(proc);
  std::filesystem::create_hard_link(folder + "/ns/user", proc.path + "/self/ns/user");
  const auto target = authorize(kRoot, Pid::of(pid), proc.path);
  ASSERT_TRUE(target) << target.error().text();
  EXPECT_TRUE(still_allowed(kRoot, *target, proc.path));
  fake.start += 1;
  fake.put(proc);
  EXPECT_EQ(still_allowed(kRoot, *target, proc.path).error().code, ESRCH);
  fake.start -= 1;
  fake.put(proc);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(still_allowed(kRoot, *target, proc.path).error().code, ESRCH);
  EXPECT_EQ(authorize(kRoot, Pid::of(pid), proc.path).error().code, ESRCH);
}

TEST(Authorization, OwnProcessesMayBeTracedByTheirUser) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto target = authorize({own_pid(), ::getuid(), ::getgid()}, Pid::of(pid));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ASSERT_TRUE(target || yama_scope() >= 2) << target.error().text();
}

}  // namespace
}  // namespace fade::service
