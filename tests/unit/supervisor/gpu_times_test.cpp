// --gpu-times: the variables that a program is started with, and those that a running one was started with.
#include "supervisor/gpu_times.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunningProgram : public testing::Test {
 protected:
  RunningProgram() { std::filesystem::create_directories(folder + "/42"); }
  ~RunningProgram() override { std::filesystem::remove_all(folder); }
  Result<void> check(std::string_view environment) const {
    std::ofstream(folder + "/42/environ", std::ios::binary) << environment;
    return check_gpu_times(std::array{Pid::of(42)}, ProcFiles(folder));
  }

  const std::string folder = testing::TempDir() + "fade_gpu_times_" + std::to_string(::getpid());
};

TEST(GpuTimes, SetsBothVariablesBeforeTheUsersOwn) {
  EXPECT_THAT(
      with_gpu_times({"GPU_FORCE_QUEUE_PROFILING=0", "X"}),
      ElementsAre("GPU_FORCE_QUEUE_PROFILING=1", "HIP_FORCE_QUEUE_PROFILING=1", "GPU_FORCE_QUEUE_PROFILING=0", "X"));
}

TEST_F(RunningProgram, TellsTimesIfItWasStartedWithEitherVariable) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(check("HOME=/\0GPU_FORCE_QUEUE_PROFILING=1\0"sv));
  EXPECT_TRUE(check("HIP_FORCE_QUEUE_PROFILING=true\0"sv));
  for (const auto environment : {"HOME=/\0"sv, "GPU_FORCE_QUEUE_PROFILING=0\0"sv, "HIP_FORCE_QUEUE_PROFILING=\0"sv}) {
    const auto checked = check(environment);
    ASSERT_FALSE(checked) << environment;
    EXPECT_THAT(checked.error().text(), HasSubstr("fade-run --gpu-times -- COMMAND"));
  }
}

TEST_F(RunningProgram, IsLetPassIfItsEnvironmentCannotBeRead) { EXPECT_TRUE(check("")); }

}  // namespace
}  // namespace fade
