#include "supervisor/refusal.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using ::testing::HasSubstr;

// A /proc of the test's own.
struct RefusalTest : ::testing::Test {
  std::filesystem::path proc = [] {
    std::string name = ::testing::TempDir() + "fade-proc-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();

  void file(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((proc / name).parent_path());
    std::ofstream(proc / name) << content;
  }
  Error explain(int code) {
    return explain_refusal(10, {.message = "cannot trace process 10", .cause = "as given", .code = code}, proc.string());
  }
  void TearDown() override { std::filesystem::remove_all(proc); }
};

TEST_F(RefusalTest, AnotherTracer) {
  file("10/status", "Name:\tx\nTracerPid:\t77\nUid:\t0\t0\t0\t0\n");
  file("77/comm", "gdb\n");
  file("sys/kernel/yama/ptrace_scope", "3\n");
  const Error error = explain(EPERM);
  EXPECT_EQ(error.cause, "it is already traced by process 77 (gdb)");
  EXPECT_EQ(error.message, "cannot trace process 10");
  EXPECT_EQ(error.code, EPERM);
  EXPECT_FALSE(error.fix.empty());
}

TEST_F(RefusalTest, YamaSaysNo) {
  file("10/status", "Name:\tx\nTracerPid:\t0\n");
  file("sys/kernel/yama/ptrace_scope", "3\n");
  EXPECT_THAT(explain(EPERM).cause, HasSubstr("ptrace_scope is 3"));
}

TEST_F(RefusalTest, OtherwiseAFilterOfTheContainer) {
  file("10/status", "Name:\tx\nTracerPid:\t0\n");
  file("sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_THAT(explain(EPERM).cause, HasSubstr("seccomp"));
  EXPECT_THAT(explain(EPERM).fix, HasSubstr("SYS_PTRACE"));
}

TEST_F(RefusalTest, WithoutProcItStillSaysSomething) { EXPECT_THAT(explain(EPERM).cause, HasSubstr("seccomp")); }

TEST_F(RefusalTest, OtherErrorsAreLeftAsTheyAre) {
  file("10/status", "TracerPid:\t77\n");
  EXPECT_EQ(explain(ESRCH).cause, "as given");
  EXPECT_EQ(explain(ESRCH).code, ESRCH);
}

// The name of a process may try to look like a field.
TEST_F(RefusalTest, NameOfTheProcessIsNotTaken) {
  file("10/status", "Name:\tTracerPid: 5\nTracerPid:\t0\n");
  EXPECT_THAT(explain(EPERM).cause, HasSubstr("seccomp"));
}

}  // namespace
}  // namespace fade
