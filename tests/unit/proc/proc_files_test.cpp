// A /proc of this test's own, with files as proc(5) describes them and as a hostile process may make them.
#include "proc/proc_files.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proc/living_thread.hpp"
#include "proc/processes.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct ProcFilesTest : ::testing::Test {
  ProcFilesTest() {
    char name[] = "/tmp/fade-proc-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~ProcFilesTest() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  ProcFiles proc() const { return ProcFiles(folder); }

  std::string folder;
};

TEST_F(ProcFilesTest, ANameMayLookLikeTheRestOfItsStatFile) {
  write("7/stat", "7 (a) S 1 (b) Z 3 4) R 42 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 9876 1 2 3 4 5 1234 0\n");
  const StatFile stat = proc().stat(Pid(7));
  EXPECT_EQ(stat.word(StatFile::State), "R");
  EXPECT_EQ(stat.number(StatFile::Parent), 42u);
  EXPECT_EQ(stat.number(StatFile::StartTime), 9876u);
  EXPECT_FALSE(stat.number(StatFile::LastCpu));
  EXPECT_EQ(read_cpu_ns(7, proc()), 200 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
}

TEST_F(ProcFilesTest, WhatIsNoStatFileSaysNothing) {
  write("7/stat", "nonsense");
  EXPECT_EQ(proc().stat(Pid(7)).word(StatFile::State), "");
  EXPECT_FALSE(proc().stat(Pid(8)).number(StatFile::StartTime));
  EXPECT_FALSE(read_cpu_ns(8, proc()));
}

TEST_F(ProcFilesTest, AStatusFileGivesNumbersMasksAndIds) {
  write("7/status",
        "Name:\tx\nState:\tS (sleeping)\nTgid:\t5\nNStgid:\t5\t3\t1\nPPid:\t4\nTracerPid:\t9\nUid:\t1\t2\t3\t4\n"
        "Seccomp:\t2\nSeccomp_filters:\t1\nSigPnd:\t0000000000000010\nShdPnd:\t0000000000000001\nSigCgt:"
        "\t0000000000000004\n");
  EXPECT_EQ(read_state(Tid(7), proc()), 'S');
  EXPECT_EQ(read_thread_group(Tid(7), proc()), Pid(5));
  EXPECT_EQ(read_own_pid(7, proc()), 1);
  EXPECT_EQ(read_parent(Pid(7), proc()), Pid(4));
  EXPECT_EQ(read_tracer(Tid(7), proc()), Tid(9));
  EXPECT_EQ(proc().status(Pid(7)).ids("Uid"), (std::array<std::uint32_t, 4>{1, 2, 3, 4}));
  EXPECT_FALSE(proc().status(Pid(7)).ids("Gid"));
  const SignalSets sets = read_signal_sets(7, proc());
  EXPECT_EQ(sets.pending, 0x11u);
  EXPECT_EQ(sets.pending_alone, 0x10u);
  EXPECT_TRUE(sets.has_caught(3));
  EXPECT_FALSE(sets.has_caught(2));
  EXPECT_NE(read_seccomp(7, proc()), read_seccomp(8, proc()));
}

TEST_F(ProcFilesTest, EmptyArgumentsAreArgumentsToo) {
  write("7/cmdline", std::string("a\0\0b c\0", 7));
  write("7/environ", "X=1");
  EXPECT_THAT(proc().texts(Pid(7), "cmdline"), ElementsAre("a", "", "b c"));
  EXPECT_THAT(proc().texts(Pid(7), "environ"), ElementsAre("X=1"));
  EXPECT_THAT(proc().texts(Pid(8), "environ"), IsEmpty());
}

TEST_F(ProcFilesTest, AThreadThatLivesStandsForALeaderThatHasEnded) {
  write("7/stat", "7 (x) Z 1");
  write("7/task/7/stat", "7 (x) Z 1");
  write("7/task/9/stat", "9 (x) S 1");
  EXPECT_EQ(living_thread(Pid(7), proc()), Tid(9));
  write("7/task/9/stat", "9 (x) X 1");
  EXPECT_EQ(living_thread(Pid(7), proc()), Tid(7));
  EXPECT_TRUE(has_ended(7, proc()));
}

}  // namespace
}  // namespace fade
