// What the calls of real functions need, as their lines in the catalogue say.
#include "session/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "probes/catalogue.hpp"

namespace fade {
namespace {

struct NeedsTest : ::testing::Test {
  Needs of(std::string_view symbol, const probes::Overrides& overrides) const {
    const auto all = catalogue.all();
    const auto it = std::ranges::find(all, symbol, [](const auto& probe) { return probe->symbol; });
    return it == all.end() ? Needs{} : needs_of(**it, overrides);
  }
  Needs of(std::string_view symbol) const { return of(symbol, no_rules); }

  const probes::Catalogue catalogue;
  const probes::Overrides no_rules{};
};

TEST_F(NeedsTest, AnAllocationNeedsTheAddressThatItGives) {
  const Needs needs = of("hipMalloc");
  EXPECT_EQ(needs.outs, std::vector<std::uint8_t>{0});
  EXPECT_TRUE(needs.ins.empty() && needs.strings.empty());
  EXPECT_TRUE(needs.result);
  EXPECT_FALSE(needs.always() || needs.kernel_names);
}

TEST_F(NeedsTest, TextsThatAFunctionGivesAreRead) {
  EXPECT_TRUE(of("hipGetErrorName").result_string);
  EXPECT_FALSE(of("hipMalloc").result_string);
  EXPECT_EQ(of("cuGetErrorName").out_strings, std::vector<std::uint8_t>{1});
  EXPECT_EQ(of("hiprtcGetLoweredName").out_strings, std::vector<std::uint8_t>{2});
  EXPECT_TRUE(of("__hipGetPCH").out_strings.empty());  // bytes
}

TEST_F(NeedsTest, ALaunchNeedsItsStackWordsAndItsKernelsName) {
  const Needs needs = of("hipLaunchKernel");
  EXPECT_GT(needs.stack_words, 0u);
  EXPECT_TRUE(needs.kernel_names);
}

TEST_F(NeedsTest, AModulesLoadNeedsItsCodeObject) { EXPECT_TRUE(of("hipModuleLoadData").code_object); }

TEST_F(NeedsTest, AThreadsDeviceIsFollowedAlsoWhileNothingIsRecorded) { EXPECT_TRUE(of("hipSetDevice").always()); }

TEST_F(NeedsTest, ARegistrationIsOverAtItsEntry) { EXPECT_FALSE(of("__hipRegisterFunction").result); }

TEST_F(NeedsTest, ARuleIsNeededByTheFunctionsThatTellItsFactAlone) {
  const std::vector<probes::RuleText> texts{{.text = "device.0.multiProcessorCount=72"}};
  const auto rules = probes::Overrides::parse(texts);
  ASSERT_TRUE(rules);
  EXPECT_TRUE(of("hipDeviceGetAttribute", *rules).always());
  EXPECT_FALSE(of("hipMalloc", *rules).rule);
}

TEST_F(NeedsTest, FunctionsOfHsaAreKnownByWhatTheyTell) {
  EXPECT_EQ(of("hsa_queue_add_write_index_screlease").hsa, probes::HsaCall::Packet);
  EXPECT_EQ(of("hsa_amd_memory_async_copy_rect").hsa, probes::HsaCall::RectCopy);
  EXPECT_EQ(of("hsa_amd_memory_async_copy_on_engine").hsa, probes::HsaCall::Copy);
  EXPECT_EQ(of("hsa_amd_profiling_get_dispatch_time").outs, std::vector<std::uint8_t>{2});
  EXPECT_EQ(of("hipMalloc").hsa, probes::HsaCall::None);
}

}  // namespace
}  // namespace fade
