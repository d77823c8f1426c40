// Who is told what: callers of a rule, and that nothing is spent on those whom no rule is for.
#include <gmock/gmock.h>

#include <cstdlib>
#include <new>

#include "probes/overrides_support.hpp"

namespace {
thread_local std::size_t allocations = 0;
}
// Not inlined: the compiler would compare malloc and free against new and delete (-Wmismatched-new-delete).
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {  // std::stable_sort asks so
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fade::probes {
namespace {

Callers callers(const char* text) {
  auto parsed = Callers::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().text();
  return parsed.value_or(Callers());
}

TEST(OverridesCallers, LibrariesThatAskForThemselvesAreLeftAloneByDefault) {
  for (const char* internal : {"libamdhip64.so.6.4.43484", "libamdhip64.so", "libhiprtc.so.7", "libamd_comgr.so.3",
                               "libcuda.so.1", "libnvcuda.so", "libMIOpen.so.1", "librocblas.so.4", "libhipblaslt.so.0",
                               "libhipblas.so.2", "librocsolver.so.0", "libhsa-runtime64.so.1"}) {
    EXPECT_FALSE(Callers().match(internal)) << internal;
  }
  for (const char* user : {"libtorch_hip.so", "python3.11", "a.out", "libc10_hip.so", "libhip_demo.so", ""}) {
    EXPECT_TRUE(Callers().match(user)) << user;
  }
}

TEST(OverridesCallers, NamedCallersAreTheOnlyOnes) {
  const Callers torch = callers("libtorch_hip*,libc10_*");
  EXPECT_TRUE(torch.match("libtorch_hip.so"));
  EXPECT_TRUE(torch.match("libc10_hip.so"));
  EXPECT_FALSE(torch.match("libggml-hip.so"));
  EXPECT_FALSE(torch.match(""));
  EXPECT_TRUE(callers("librocblas*").match("librocblas.so.4"));  // named: the default exclusions do not count
}

TEST(OverridesCallers, ExclusionsNarrowWhatIsNamed) {
  const Callers most = callers("lib*, !libggml*");
  EXPECT_TRUE(most.match("libtorch_hip.so"));
  EXPECT_TRUE(most.match("libamdhip64.so"));
  EXPECT_FALSE(most.match("libggml-hip.so"));
}

TEST(OverridesCallers, ExclusionsAloneComeOnTopOfTheDefaultOnes) {
  const Callers but = callers("!libggml*");
  EXPECT_TRUE(but.match("libtorch_hip.so"));
  EXPECT_FALSE(but.match("libggml-hip.so"));
  EXPECT_FALSE(but.match("libamdhip64.so.6"));
}

TEST(OverridesCallers, AStarIsReallyEveryone) {
  EXPECT_TRUE(callers("*").match("libamdhip64.so.6"));
  EXPECT_TRUE(callers("*").match(""));
}

TEST(OverridesCallers, SaysWhoIsMeant) {
  EXPECT_EQ(callers("libtorch_hip*").text(), "libtorch_hip*");
  EXPECT_EQ(callers("lib*,!libggml*").text(), "lib* but libggml*");
  EXPECT_THAT(Callers().text(), testing::StartsWith("every caller but libamdhip64*, libhiprtc*"));
}

TEST(OverridesCallers, TheRuleDecidesForEachCall) {
  const auto overrides = rules({"device.0.multiProcessorCount=72@libtorch_hip*", "device.0.warpSize=64"});
  TestCall call = properties_call("hipGetDevicePropertiesR0600");
  call.caller = "libtorch_hip.so";
  EXPECT_EQ(call.apply(overrides).size(), 2u);
  call.caller = "libggml-hip.so";
  EXPECT_THAT(call.apply(overrides), testing::ElementsAre(testing::Field(&Patch::field, "warpSize")));
  call.caller = "libnvcuda.so";
  EXPECT_TRUE(call.apply(overrides).empty());
}

TEST(OverridesCallers, ALaterRuleForOthersHidesNothing) {
  const auto overrides = rules({"device.0.warpSize=64", "device.0.warpSize=32@libfoo*"});
  TestCall call = attribute_call(87, 1);
  call.apply(overrides);
  EXPECT_EQ(call.get<std::int32_t>(0), 64);
  call.caller = "libfoo.so";
  call.apply(overrides);
  EXPECT_EQ(call.get<std::int32_t>(0), 32);
}

TEST(OverridesCallers, NothingIsAllocatedWhereNoRuleCounts) {
  const auto overrides =
      rules({"device.0.multiProcessorCount=72", "device.0.name=X@libtorch*", "device.0.memory.free=1G"});
  TestCall internal = properties_call("hipGetDevicePropertiesR0600");
  internal.caller = "libamdhip64.so.7.2.53211-a-name-that-is-too-long-for-the-string-itself";
  TestCall other_device = attribute_call(63, 36, 1), other_fact = attribute_call(87, 64), info = memory_call(1, 2);
  info.current_device = 3;
  for (TestCall* call : {&internal, &other_device, &other_fact, &info}) {
    const Found found{0, call->memory[0]};
    const DeviceCall asked = call->call();
    const std::size_t before = allocations;
    const bool applies = overrides.applies(asked);
    const auto reads = overrides.reads(call->symbol, call->arguments);
    const std::size_t patches = overrides.patches(asked, std::span(&found, 1)).size();
    const std::size_t after = allocations;
    EXPECT_FALSE(applies) << call->symbol;
    EXPECT_EQ(patches, 0u) << call->symbol;
    EXPECT_GT(reads[0].bytes, 0u);
    EXPECT_EQ(after, before) << call->symbol;
  }
}

}  // namespace
}  // namespace fade::probes
