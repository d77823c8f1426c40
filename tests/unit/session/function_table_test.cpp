#include "session/function_table.hpp"

#include <gmock/gmock.h>

#include "session/harness.hpp"

namespace fade {
namespace {

struct FunctionTableTest : ::testing::Test {
  test::CollectingSink sink;
  const probes::Overrides no_overrides{};
  FunctionTable table{sink, no_overrides};
  const probes::ProbePtr allocate = test::simple_probe("hipMalloc", 2), release = test::simple_probe("hipFree", 1);
};

TEST_F(FunctionTableTest, IdsAreDenseAndOnePerNameAndLibrary) {
  const auto first = table.function(allocate, "/a", 6);
  const auto second = table.function(release, "/a", 6);
  const auto elsewhere = table.function(allocate, "/b", 7);
  EXPECT_EQ(table.function(allocate, "/a", 6), first);
  EXPECT_EQ(table[first].function.value(), 1u);
  EXPECT_EQ(table[second].function.value(), 2u);
  EXPECT_EQ(table[elsewhere].function.value(), 3u);
  const auto defined = sink.all<FunctionDefined>();
  ASSERT_EQ(defined.size(), 3u);
  EXPECT_EQ(defined[2].library, "/b");
  EXPECT_EQ(defined[2].library_major, 7);
}

TEST_F(FunctionTableTest, CallsOfOtherLibrariesAreCounted) {
  FunctionTable chosen(sink, no_overrides,
                       [](const probes::Probe& probe) { return probe.symbol == "hipFree" ? "libmine*" : ""; });
  const auto first = chosen.function(allocate, "/a", 6), second = chosen.function(release, "/a", 6);
  EXPECT_EQ(chosen[first].needs.callers, "");
  EXPECT_EQ(chosen[second].needs.callers, "libmine*");
  chosen.report_left_out(7);
  EXPECT_TRUE(sink.all<Drop>().empty());
  chosen[second].left_out = 3;
  chosen.report_left_out(8);
  chosen.report_left_out(9);
  const auto drops = sink.all<Drop>();
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_EQ(drops[0].n, 3u);
  EXPECT_EQ(drops[0].at, 8);
}

TEST_F(FunctionTableTest, ResolversAreNoFunctions) {
  const auto resolver = table.resolver(allocate, "/a", 6);
  EXPECT_EQ(table.resolver(allocate, "/a", 6), resolver);
  EXPECT_EQ(table[resolver].function.value(), 0u);
  EXPECT_EQ(table[resolver].what, Entry::What::Resolver);
  EXPECT_NE(table.function(allocate, "/a", 6), resolver);
  EXPECT_EQ(sink.all<FunctionDefined>().size(), 1u);
}

TEST_F(FunctionTableTest, ReservedEntriesComeFirst) {
  EXPECT_EQ(table[table.loader()].what, Entry::What::Loader);
  EXPECT_EQ(table[table.set_action()].what, Entry::What::Sigaction);
  EXPECT_EQ(table[table.set_mask()].what, Entry::What::Sigmask);
  EXPECT_GT(table.function(allocate, "/a", 6), table.set_mask());
}

TEST_F(FunctionTableTest, WhatMustBeFetchedIsKnown) {
  probes::Probe probe{.symbol = "f"};
  probe.parameters.resize(4);
  probe.parameters[1].type.cls = probes::TypeClass::CString;
  for (const std::size_t i : {2u, 3u}) probe.parameters[i].pointee = {probes::TypeClass::Signed, 4, "int"};
  probe.parameters[2].direction = probes::Direction::Out;
  probe.parameters[3].direction = probes::Direction::InOut;
  const Entry& entry = table[table.function(std::make_shared<const probes::Probe>(probe), "/a", 6)];
  EXPECT_THAT(entry.needs.strings, ::testing::ElementsAre(1));
  EXPECT_THAT(entry.needs.ins, ::testing::ElementsAre(3));
  EXPECT_THAT(entry.needs.outs, ::testing::ElementsAre(2, 3));
}

TEST_F(FunctionTableTest, CostsAreSentOnce) {
  const auto index = table.function(allocate, "/a", 6);
  table[index].stops = 3;
  table[index].held_ns = 500;
  table[0].stops = 1;
  table.report_costs();
  table.report_costs();
  const auto costs = sink.all<StopCost>();
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].function.value(), 0u);
  EXPECT_EQ(costs[1].function, table[index].function);
  EXPECT_EQ(costs[1].stops, 3u);
  EXPECT_EQ(costs[1].held_ns, 500);
}

}  // namespace
}  // namespace fade
