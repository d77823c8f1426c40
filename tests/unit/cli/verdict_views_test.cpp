// The rule of the verdicts on lives of processes that are written down here, second by second: nothing runs, so nothing
// depends on how fast.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/query/database.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;

constexpr double kForever = -1;

class Verdicts : public testing::Test {
 protected:
  void SetUp() override {
    path_ = make_recording(directory_, "fade-lives.db", false);
    write(
        "INSERT INTO session_ (id, kind, start_ns, end_ns, boot_ns, options, detail, clean) VALUES (1, 'run', 0, "
        "1000000000000, 0, '', 'calls', 1)");
    for (const auto& [id, name, kind] : kFunctions)
      write(fmt::format(
          "INSERT INTO function_ (id, session, name, api, grp, kind, success) VALUES ({}, 1, '{}', 'hip', '', '{}', 0)",
          id, name, kind));
  }

  // Times in seconds.
  void process(int id, double begin, double end, int exit_code = 0, int exit_signal = 0, int parent = 0) {
    write(fmt::format(
        "INSERT INTO process_ (id, session, parent, pid, ts, ts_end, exe, command, env, exit_code, exit_signal) VALUES "
        "({0}, 1, nullif({1}, 0), 100 + {0}, {2}, {3}, 'x', 'program{0}', '{{}}', {4}, {5})",
        id, parent, ns(begin), end == kForever ? "NULL" : ns(end), exit_code, exit_signal));
    write(fmt::format("INSERT INTO thread_ VALUES ({0}, {0}, 100 + {0}, 'main', 0, NULL)", id));
  }
  void ran_program(int id) {
    write(fmt::format("INSERT INTO lifecycle_ (session, ts, process, kind) VALUES (1, 0, {}, 'exec')", id));
  }
  void module(int process, const std::string& path, const std::string& role = "") {
    write(fmt::format("INSERT INTO module_ (process, path, role, sites, ts) VALUES ({}, '{}', '{}', {}, 0)", process,
                      path, role, role.empty() ? 0 : 480));
  }
  void hip(int process) { module(process, "/opt/rocm/lib/libamdhip64.so.6", "hip"); }
  void calls(int process, int function, int n, int errors = 0) {
    write(
        fmt::format("INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self) VALUES ({0}, {1}, 0, {2}, "
                    "{3}, 0, 0) ON CONFLICT DO UPDATE SET n = n + {2}, errors = errors + {3}",
                    process, function, n, errors));
  }
  // One launch at the beginning of each of these seconds.
  void launches(int process, int from, int to, int step = 1) {
    std::string rows;
    for (int sec = from; sec <= to; sec += step)
      rows += fmt::format("{3}({0}, {1}, 1, 0, 1, 0, {2}, {2})", process, sec, ns(sec), rows.empty() ? "" : ", ");
    write("INSERT INTO process_use_ VALUES " + rows);
    calls(process, kLaunch, (to - from) / step + 1);
  }
  void failure(int process, int function, int code, double at, int n = 1, double last = 0) {
    write(
        fmt::format("INSERT INTO error_ (call, ts, ts_last, thread, fn, code, name, n) VALUES (1, {}, {}, {}, {}, {}, "
                    "'hipError{}', {})",
                    ns(at), ns(std::max(at, last)), process, function, code, code, n));
    calls(process, function, n, n);
  }
  void cpu(int process, double at, double seconds) {
    write(fmt::format("INSERT INTO cpu_sample_ VALUES ({}, {}, {})", process, ns(at), ns(seconds)));
  }

  std::string ask(const std::string& sql) {
    auto db = Database::open(path_);
    EXPECT_TRUE(db) << db.error().text();
    auto value = db->one(sql);
    EXPECT_TRUE(value) << value.error().text();
    return value ? table::raw_text(*value) : "";
  }
  std::string verdict(int process = 1, const std::string& what = "verdict") {
    return ask(fmt::format("SELECT {} FROM verdicts WHERE process_id = {}", what, process));
  }
  std::string overall(const std::string& what = "verdict") {
    return ask(fmt::format("SELECT {} FROM session_verdicts", what));
  }

  static std::string ns(double seconds) { return fmt::format("{}", static_cast<std::int64_t>(seconds * 1e9)); }
  void write(const std::string& sql) { execute(path_, sql); }

  static constexpr int kLaunch = 1, kMalloc = 2, kCount = 3, kFree = 4, kCopy = 5, kSync = 6, kAttribute = 7;
  static constexpr std::tuple<int, const char*, const char*> kFunctions[] = {
      {kLaunch, "hipLaunchKernel", "launch"},
      {kMalloc, "hipMalloc", "alloc"},
      {kCount, "hipGetDeviceCount", "device_query"},
      {kFree, "hipFree", "free"},
      {kCopy, "hipMemcpy", "copy"},
      {kSync, "hipDeviceSynchronize", "sync"},
      {kAttribute, "hipDeviceGetAttribute", "device_query"}};

  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(Verdicts, LoadingDataOnTheCpuFirstIsNoFault) {
  process(1, 0, 660);
  hip(1);
  launches(1, 600, 650);
  cpu(1, 600, 590);
  EXPECT_EQ(verdict(), "USED");
}

TEST_F(Verdicts, EvaluatingOnTheCpuAtTheEndIsNoFaultButIsTold) {
  process(1, 0, 600);
  hip(1);
  launches(1, 0, 60);
  cpu(1, 60, 40);
  cpu(1, 590, 560);
  EXPECT_EQ(verdict(), "USED");
  EXPECT_THAT(verdict(1, "evidence"), HasSubstr("about 520.0 s of CPU time in the 540.0 s after the last launch"));
  EXPECT_EQ(verdict(1, "advice"), "");
}

TEST_F(Verdicts, FewLaunchesAreEnough) {
  process(1, 0, 900);
  hip(1);
  launches(1, 10, 890, 220);
  EXPECT_EQ(verdict(), "USED");
}

TEST_F(Verdicts, AFailureAfterWhichOnlyTheCpuWorks) {
  process(1, 0, 600);
  hip(1);
  launches(1, 0, 60);
  failure(1, kLaunch, 719, 60.5);
  cpu(1, 60, 20);
  cpu(1, 599, 550);
  EXPECT_EQ(verdict(), "STOPPED_USING");
  EXPECT_THAT(verdict(1, "reason"), HasSubstr("hipLaunchKernel returned hipError719"));
  EXPECT_THAT(verdict(1, "evidence"), HasSubstr("the failure was at 60.500 s"));
}

TEST_F(Verdicts, AFailureThatIsTooNearTheEndIsNoFallback) {
  process(1, 0, 1005);
  hip(1);
  launches(1, 0, 990, 10);
  failure(1, kMalloc, 2, 995);
  EXPECT_EQ(verdict(), "USED") << "10 of 1005 seconds are less than a tenth";
  process(2, 0, 61.2);
  hip(2);
  launches(2, 60, 60);
  failure(2, kMalloc, 2, 60.5);
  EXPECT_EQ(verdict(2), "USED") << "less than a second";
}

TEST_F(Verdicts, AnErrorThatLastsAtTheEndIsAFailure) {
  process(1, 0, 61);
  hip(1);
  launches(1, 0, 60);
  failure(1, kSync, 700, 60.5);
  EXPECT_EQ(verdict(), "FAILED");
}

TEST_F(Verdicts, AFailureThatWasOvercomeIsNoFault) {
  process(1, 0, 600);
  hip(1);
  launches(1, 0, 60);
  failure(1, kMalloc, 2, 30);
  EXPECT_EQ(verdict(), "USED");
  EXPECT_THAT(verdict(1, "reason"), HasSubstr("some calls failed"));
}

TEST_F(Verdicts, FailuresThatPreventNothingAreNoCause) {
  process(1, 0, 600);
  hip(1);
  launches(1, 0, 60);
  failure(1, kFree, 1, 61);
  failure(1, kCopy, 1, 61);
  EXPECT_EQ(verdict(), "USED");
}

TEST_F(Verdicts, RepeatsCountWithTheirLastTime) {
  process(1, 0, 600);
  hip(1);
  launches(1, 0, 60);
  failure(1, kMalloc, 2, 10, 500, 70);
  EXPECT_EQ(verdict(), "STOPPED_USING");
  EXPECT_THAT(verdict(1, "evidence"), HasSubstr("the failure was at 70.000 s"));
}

TEST_F(Verdicts, WhoEndsBadlyAfterAFailureHasFailed) {
  process(1, 0, 600, 1);
  hip(1);
  launches(1, 0, 60);
  failure(1, kMalloc, 2, 61);
  EXPECT_EQ(verdict(), "FAILED");
}

TEST_F(Verdicts, WhoIsEndedWhileTheCpuWorksHasStopped) {
  for (const auto& [id, code, signal] : {std::tuple(1, -1, 2), std::tuple(2, 130, 0), std::tuple(3, -1, 9)}) {
    process(id, 0, 600, code, signal);
    hip(id);
    launches(id, 0, 60);
    failure(id, kMalloc, 2, 61);
    EXPECT_EQ(verdict(id), "STOPPED_USING") << id;
  }
}

TEST_F(Verdicts, BeingToldToEndIsNoFault) {
  process(1, 0, 600, -1, 15);
  hip(1);
  launches(1, 0, 599);
  EXPECT_EQ(verdict(), "USED");
  process(2, 0, 600, -1, 11);
  hip(2);
  launches(2, 0, 599);
  EXPECT_EQ(verdict(2), "FAILED");
}

TEST_F(Verdicts, WhatStillRunsIsJudgedUntilNow) {
  write("UPDATE session_ SET end_ns = NULL, clean = 0");
  process(1, 0, kForever);
  hip(1);
  launches(1, 0, 60);
  failure(1, kLaunch, 719, 60.5);
  EXPECT_EQ(verdict(), "FAILED") << "nothing is known of it after that";
  cpu(1, 200, 190);
  EXPECT_EQ(verdict(), "STOPPED_USING");
}

TEST_F(Verdicts, AnswersAreNoFailures) {
  process(1, 0, 10);
  hip(1);
  failure(1, kAttribute, 801, 1);
  failure(1, kLaunch, 600, 1);
  EXPECT_EQ(verdict(), "QUERIED_ONLY");
  EXPECT_EQ(verdict(1, "failures"), "0");
  EXPECT_EQ(ask("SELECT count(*) FROM failures WHERE normal"), "2");
  EXPECT_EQ(ask("SELECT n FROM checks WHERE condition = 'errors'"), "0");
  EXPECT_EQ(ask("SELECT count(*) FROM first_errors"), "0");
}

TEST_F(Verdicts, TheLongestPatternOfARuleCounts) {
  process(1, 0, 10);
  failure(1, kAttribute, 801, 1);
  failure(1, kMalloc, 801, 2);
  EXPECT_EQ(ask("SELECT group_concat(class) FROM failures"), "normal,other");
}

TEST_F(Verdicts, TheGravestOfTheWorkingProcessesCounts) {
  process(1, 0, 100);
  ran_program(1);
  for (const int rank : {2, 3, 4}) {
    process(rank, 1, 99, 0, 0, 1);
    ran_program(rank);
    hip(rank);
    launches(rank, 2, 90);
  }
  EXPECT_EQ(overall(), "USED");
  EXPECT_EQ(verdict(1, "verdict || working"), "NOT_LOADED0");
  failure(3, kLaunch, 719, 98.5);
  EXPECT_EQ(overall("verdict || pid"), "FAILED103");
}

TEST_F(Verdicts, ForkedCopiesHaveWhatTheirParentLoaded) {
  process(1, 0, 100);
  hip(1);
  launches(1, 2, 90);
  process(2, 5, 90, 0, 0, 1);
  process(3, 6, 90, 0, 0, 2);
  calls(3, kCount, 1);
  EXPECT_EQ(verdict(2, "verdict || working"), "LOADED_UNUSED0");
  EXPECT_EQ(verdict(3, "verdict || working"), "QUERIED_ONLY1");
  EXPECT_EQ(overall(), "USED");
}

TEST_F(Verdicts, OfSeveralThatLoadNothingTheCpuOnlyPyTorchIsNamed) {
  process(1, 0, 100);
  ran_program(1);
  process(2, 1, 99, 0, 0, 1);
  ran_program(2);
  module(2, "/venv/torch/lib/libtorch_cpu.so");
  process(3, 1, 2, 0, 0, 2);
  ran_program(3);
  EXPECT_EQ(overall("verdict || pid"), "NOT_LOADED102") << "though it starts others itself";
  EXPECT_THAT(overall("reason"), HasSubstr("CPU-only"));
}

// #!/bin/sh, then mkdir, then exec python3 train.py.
TEST_F(Verdicts, AScriptThatBecomesTheProgramIsNoLauncher) {
  process(1, 0, 10);
  ran_program(1);
  process(2, 1, 2, 0, 0, 1);
  ran_program(2);
  write("INSERT INTO lifecycle_ (session, ts, process, kind) VALUES (1, 3000000000, 1, 'exec')");
  EXPECT_EQ(overall("verdict || pid || working"), "NOT_LOADED1011");
  EXPECT_EQ(verdict(1, "launcher || helper"), "00");
  EXPECT_EQ(verdict(2, "launcher || helper"), "01");
}

TEST_F(Verdicts, AProgramThatRunsAHelperIsNotItsLauncher) {
  process(1, 0, 60);
  ran_program(1);
  process(2, 1, 2, 0, 0, 1);
  ran_program(2);
  cpu(2, 2, 1);
  EXPECT_EQ(overall("pid || working"), "1011") << "python3 that asks git for its version";
  write("UPDATE process_ SET exe = '/bin/bash' WHERE id = 1");
  EXPECT_EQ(overall("pid || working"), "1020") << "a shell that starts the program";
}

TEST_F(Verdicts, AFailureThatGivesTheGpuNoWorkIsNotWhyNothingWasLaunched) {
  process(1, 0, 10);
  hip(1);
  calls(1, kMalloc, 1);
  failure(1, kFree, 1, 5);
  EXPECT_EQ(overall(), "ALLOCATED_NO_LAUNCH");
  EXPECT_EQ(overall("reason"), "memory was allocated or copied, but no kernel was launched");
}

TEST_F(Verdicts, AProgramThatFailedByItselfIsNotAdvisedToUseTheGpu) {
  process(1, 0, 10, 2);
  EXPECT_EQ(overall("advice"), "The program failed by itself, with exit status 2: what it wrote last says why.");
}

TEST_F(Verdicts, AnEnvironmentThatIsNoJsonHarmsNothing) {
  process(1, 0, 10);
  hip(1);
  calls(1, kCount, 1);
  write("UPDATE process_ SET env = 'not json'");
  EXPECT_EQ(verdict(), "QUERIED_ONLY");
}

}  // namespace
}  // namespace fade::query
