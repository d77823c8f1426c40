#include "session/stack_policy.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using probes::Kind;

StackChoice choice(const std::vector<std::string>& words) {
  StackChoice out;
  EXPECT_TRUE(out.parse_calls(words));
  return out;
}

std::string wanted(StackPolicy& policy, Kind kind, int calls, CallSiteId site = 1) {
  const probes::Probe probe{.kind = kind};
  std::string out;
  for (int i = 0; i < calls; ++i) out += policy.wants(probe, 1, site) ? 'x' : '.';
  return out;
}

TEST(StackChoice, WordsAreUnderstood) {
  EXPECT_EQ(words_of(StackChoice()), "alloc,errors,first");
  for (const char* text : {"alloc", "errors", "first", "all", "sample=7", "off"})
    EXPECT_EQ(words_of(choice({text})), text);
  EXPECT_EQ(words_of(choice({"sample"})), "sample=100");
  EXPECT_EQ(words_of(choice({"errors", "sample=5", "alloc"})), "alloc,errors,sample=5");
  for (const char* bad : {"", "alocs", "sample=0", "sample=", "sample=x", "samples", "sample=5x", "sample=99999999999"})
    EXPECT_FALSE(StackChoice().parse_calls({bad})) << bad;
  EXPECT_FALSE(StackChoice().parse_calls({"off", "alloc"}));
}

TEST(StackChoice, FunctionsAndGroups) {
  EXPECT_EQ(words_of(choice({"hipMemcpy*", "errors", "mem"})), "errors,hipMemcpy*,mem");
  EXPECT_EQ(words_of(choice({"launch"})), "kernel") << "a synonym";
  EXPECT_EQ(words_of(choice({"blas", "rocblas_sgemm"})), "blas,rocblas_sgemm");
  EXPECT_TRUE(choice({"hipMalloc"}).at_entry() && !choice({"hipMalloc"}).at_failure());
  for (const char* bad : {"coppy", "erors", "memm"}) EXPECT_FALSE(StackChoice().parse_calls({bad})) << bad;
}

TEST(StackPolicy, EachCallOfChosenFunctions) {
  StackPolicy policy(choice({"hipMemcpy*", "kernel"}));
  EXPECT_TRUE(policy.wants({.symbol = "hipMemcpyAsync", .group = "copy"}, 1, 1));
  EXPECT_TRUE(policy.wants({.symbol = "hipMemcpyAsync", .group = "copy"}, 1, 1));
  EXPECT_TRUE(policy.wants_every({.symbol = "hipLaunchKernel", .group = "kernel"}));
  EXPECT_FALSE(policy.wants({.symbol = "hipMemset", .group = "copy"}, 2, 1));
  EXPECT_FALSE(StackPolicy(choice({"first"})).wants_every({.symbol = "hipMemcpy", .group = "copy"}));
}

TEST(StackChoice, WhatIsNeededWhere) {
  EXPECT_FALSE(choice({"off"}).is_on());
  EXPECT_TRUE(choice({"errors"}).at_failure() && !choice({"errors"}).at_entry());
  EXPECT_FALSE(choice({"first"}).at_failure());
  StackChoice without = choice({"all"});
  without.native = without.python = false;
  EXPECT_FALSE(without.is_on());
}

TEST(StackPolicy, AllocationsAndNotTheirFrees) {
  StackPolicy policy(choice({"alloc"}));
  for (const Kind kind : {Kind::Alloc, Kind::HostAlloc}) EXPECT_EQ(wanted(policy, kind, 2), "xx");
  for (const Kind kind : {Kind::Free, Kind::HostFree, Kind::Launch}) EXPECT_EQ(wanted(policy, kind, 2), "..");
  EXPECT_TRUE(policy.wants({.symbol = "hipGraphAddMemAllocNode", .kind = Kind::Graph}, 1, 1));
  EXPECT_FALSE(policy.wants({.symbol = "hipGraphLaunch", .kind = Kind::Graph}, 1, 1));
}

TEST(StackPolicy, FirstOfEachFunctionAndPlace) {
  StackPolicy policy(choice({"first"}));
  EXPECT_EQ(wanted(policy, Kind::Copy, 3), "x..");
  EXPECT_EQ(wanted(policy, Kind::Copy, 2, 2), "x.");
  EXPECT_EQ(wanted(policy, Kind::Copy, 2, 0), "..") << "places that are not kept apart";
}

TEST(StackPolicy, EveryNthCall) {
  StackPolicy policy(choice({"sample=3"}));
  EXPECT_EQ(wanted(policy, Kind::Copy, 7), "..x..x.");
}

TEST(StackPolicy, TogetherTheyCountTheSameCalls) {
  StackPolicy policy(choice({"sample=3", "first"}));
  EXPECT_EQ(wanted(policy, Kind::Copy, 7), "x.x..x.");
}

}  // namespace
}  // namespace fade
