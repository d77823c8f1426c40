// Which functions of the catalogue can be tapped, and how.
#include "session/tappable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "probes/catalogue.hpp"
#include "session/number_watch.hpp"

namespace fade {
namespace {

struct TappableTest : ::testing::Test {
  const probes::Probe& probe(std::string_view symbol) const {
    return **std::ranges::find(all, symbol, [](const auto& each) { return each->symbol; });
  }
  Needs needs(std::string_view symbol) const { return needs_of(probe(symbol), rules); }
  bool can(std::string_view symbol) const { return tappable(needs(symbol), probe(symbol)); }
  tap::Tapped how(std::string_view symbol) const { return tapped(needs(symbol), probe(symbol)); }

  const probes::Catalogue catalogue;
  probes::Overrides rules;
  const std::vector<probes::ProbePtr> all = [this] {
    const auto list = catalogue.all();
    return std::vector<probes::ProbePtr>(list.begin(), list.end());
  }();
};

TEST_F(TappableTest, LaunchesCopiesStreamsAndDevicesAre) {
  for (const char* symbol : {"hipLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync", "hipFree", "hipStreamSynchronize",
                             "hipStreamCreate", "hipEventRecord", "hipSetDevice", "hipGetDevice", "hipGetLastError"})
    EXPECT_TRUE(can(symbol)) << symbol;
}

TEST_F(TappableTest, FunctionsThatAreLookedAtAtTheirStopsAreNot) {
  for (const auto need : {&Needs::numbers, &Needs::step}) {
    Needs some = needs("hipMemcpyAsync");
    some.*need = true;
    EXPECT_FALSE(tappable(some, probe("hipMemcpyAsync")));
  }
  Needs acted = needs("hipFree");
  acted.actions.push_back(0);
  EXPECT_FALSE(tappable(acted, probe("hipFree")));
}

TEST_F(TappableTest, NumbersNeedCopiesWaitsAndTheOrderOfStreams) {
  for (const char* symbol :
       {"hipMemcpyAsync", "hipMemcpyDtoH", "hipStreamSynchronize", "hipDeviceSynchronize", "hipEventRecordWithFlags",
        "hipStreamWaitEvent", "hipStreamBeginCapture", "hipStreamCreateWithFlags"})
    EXPECT_TRUE(needs_for_numbers(probe(symbol))) << symbol;
  for (const char* symbol : {"hipMalloc", "hipLaunchKernel", "hipEventQuery", "hipMemset", "cuMemcpyHtoD_v2"})
    EXPECT_FALSE(needs_for_numbers(probe(symbol))) << symbol;
}

TEST_F(TappableTest, FunctionsThatNeedMoreThanRegistersAreNot) {
  for (const char* symbol : {"hipModuleGetFunction", "hipModuleLoadData", "hipGetDeviceProperties", "hipMemGetInfo",
                             "__hipRegisterFunction", "hipGraphLaunch", "hipGetErrorString", "hipDrvGetErrorName",
                             "hsa_executable_symbol_get_info", "hsa_system_get_info", "hsa_queue_destroy"})
    EXPECT_FALSE(can(symbol)) << symbol;
}

// Their calls may not be left out: each tells of one work of a GPU.
TEST_F(TappableTest, FunctionsThatTellTimesOfTheGpuAre) {
  for (const char* symbol :
       {"hsa_queue_add_write_index_screlease", "hsa_amd_profiling_get_dispatch_time",
        "hsa_amd_profiling_get_async_copy_time", "hsa_amd_memory_async_copy", "hsa_amd_memory_async_copy_on_engine"}) {
    EXPECT_TRUE(can(symbol)) << symbol;
    EXPECT_FALSE(may_be_left_out(probe(symbol))) << symbol;
  }
  EXPECT_EQ(how("hsa_amd_profiling_get_dispatch_time").out->size, 16);
  EXPECT_EQ(how("hsa_amd_profiling_get_dispatch_time").out->parameter, 2);
  EXPECT_EQ(how("hsa_amd_memory_async_copy_on_engine").stack_words, 4);
}

TEST_F(TappableTest, AFunctionWithARuleIsNot) {
  const std::vector<probes::RuleText> texts{{.text = "device.0.multiProcessorCount=72"}};
  ASSERT_TRUE(can("hipDeviceGetAttribute"));
  rules = *probes::Overrides::parse(texts);
  EXPECT_FALSE(can("hipDeviceGetAttribute"));
}

TEST_F(TappableTest, APrototypeThatIsNotKnownCannotBeCalledThrough) {
  probes::Probe probe{.symbol = "hipNew", .known_signature = false};
  EXPECT_FALSE(tappable(needs_of(probe, rules), probe));
}

TEST_F(TappableTest, ATapCopiesTheStackWordsAndKnowsSuccess) {
  const tap::Tapped launch = how("hipLaunchKernel");
  EXPECT_EQ(launch.stack_words, needs("hipLaunchKernel").stack_words);
  EXPECT_EQ(launch.success, std::optional<std::uint32_t>(0));
  EXPECT_FALSE(launch.out);
  EXPECT_EQ(how("hipStreamQuery").expected, std::optional<std::uint32_t>(600));  // hipErrorNotReady
}

TEST_F(TappableTest, ATapReadsTheOneOutParameter) {
  const tap::Tapped get = how("hipGetDevice"), create = how("hipStreamCreate");
  ASSERT_TRUE(get.out && create.out);
  EXPECT_EQ(get.out->parameter, 0);
  EXPECT_EQ(get.out->size, 4);
  EXPECT_EQ(create.out->size, 8);
}

}  // namespace
}  // namespace fade
