// Calls of taps of which only sums are kept, against the same program with a record for each call.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using test::Supervised;

struct SummedSessionTest : ::testing::Test {
  SummedSessionTest() {
    options.wishes.probes = catalogue.all();
    options.engine = CaptureEngine::Taps;
  }
  Supervised run(std::vector<std::string> argv, SummedCalls summed) {
    options.summed_calls = summed;
    argv.front() = std::string(FADE_UNIT_TRACEES) + "/" + argv.front();
    return Supervised::run(std::move(argv), options, {},
                           {"LD_LIBRARY_PATH=" + std::string(FADE_UNIT_RUNTIMES) + "/v6"});
  }

  const probes::Catalogue catalogue;
  SessionOptions options;
};

// A call without its times, with names instead of ids.
using Facts = std::tuple<std::string, std::string, std::uint64_t, int, bool>;
std::map<Facts, int> facts_of(const Supervised& ran) {
  std::map<FunctionId, std::string> functions;
  for (const auto& f : ran.sink.all<FunctionDefined>()) functions[f.function] = f.probe->symbol;
  std::map<CallSiteId, std::string> sites;
  for (const auto& site : ran.sink.all<CallSiteSeen>()) sites[site.site] = site.symbol;
  std::map<Facts, int> out;
  for (const auto& [call, payload] : ran.sink.calls)
    ++out[{functions[call.function], sites[call.caller], call.result, call.flags, call.parent != 0}];
  return out;
}

// Ids are in order of entry, each once, and a call begins behind its parent's begin.
void expect_in_order(const Supervised& ran) {
  std::map<CallId, const CallRecord*> by_id;
  for (const auto& call : ran.sink.calls)
    EXPECT_TRUE(by_id.emplace(call.record.id, &call.record).second) << "twice: " << call.record.id.value();
  std::int64_t last = 0;
  for (const auto& [id, call] : by_id) {
    EXPECT_GE(call->entry_ns, last);
    EXPECT_GE(call->exit_ns, call->entry_ns);
    last = call->entry_ns;
    if (call->parent != 0) {
      EXPECT_LE(by_id.at(call->parent)->entry_ns, call->entry_ns);
    }
  }
}

TEST_F(SummedSessionTest, NestedAndFailedCallsAreTheSame) {
  const auto records = run({"polls", "20000"}, SummedCalls::Never), summed = run({"polls", "20000"}, SummedCalls::All);
  EXPECT_EQ(records.status, 0);
  EXPECT_EQ(records.sink.summed, 0u);
  EXPECT_GT(summed.sink.summed, 30'000u);
  EXPECT_EQ(facts_of(records), facts_of(summed));
  expect_in_order(summed);
}

TEST_F(SummedSessionTest, ThreadsAndAForkAreTheSame) {
  const auto records = run({"polls", "8000", "4", "fork"}, SummedCalls::Never),
             summed = run({"polls", "8000", "4", "fork"}, SummedCalls::All);
  EXPECT_EQ(records.status, 0);
  EXPECT_GT(summed.sink.summed, 10'000u);
  EXPECT_EQ(facts_of(records), facts_of(summed));
  expect_in_order(summed);
}

// A sampled stack belongs to a call with a record.
TEST_F(SummedSessionTest, SampledCallsKeepTheirStacks) {
  ASSERT_TRUE(options.stacks.parse_calls({"sample=500"}));
  const auto ran = run({"polls", "20000"}, SummedCalls::All);
  EXPECT_GT(ran.sink.summed, 10'000u);
  EXPECT_GT(std::ranges::count_if(ran.sink.calls, [](const auto& call) { return call.record.stack != 0; }), 20);
}

TEST_F(SummedSessionTest, OnlyFunctionsThatABudgetHasReduced) {
  const auto ran = run({"polls", "20000"}, SummedCalls::OfBudget);
  EXPECT_EQ(ran.sink.summed, 0u);
  options.budget = 1e-9;
  options.budget_prices = {1000, 1000, 1000};
  options.budget_window_ns = 20'000'000;
  EXPECT_GT(run({"polls", "1000000"}, SummedCalls::OfBudget).sink.summed, 0u);
}

}  // namespace
}  // namespace fade
