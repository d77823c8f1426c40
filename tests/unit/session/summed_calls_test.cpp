// Calls of taps of which only sums are kept, against the same program with a record for each call.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "probes/catalogue.hpp"
#include "probes/summed_words.hpp"
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

// The words that books look at, of each call in turn. Addresses become numbers, in order of their first use.
class WordsOf {
 public:
  explicit WordsOf(const Supervised& ran) {
    for (const auto& f : ran.sink.all<FunctionDefined>()) probes_[f.function] = f.probe;
    std::map<CallId, const test::CollectingSink::Call*> in_order;
    for (const auto& call : ran.sink.calls) in_order[call.record.id] = &call;
    for (const auto& [id, call] : in_order) add(*call);
  }
  std::vector<std::string> all;

 private:
  void add(const test::CollectingSink::Call& call) {
    const probes::Probe& probe = *probes_.at(call.record.function);
    std::string line = probe.symbol;
    probes::SummedWords::Values values{};
    const auto words = probes::SummedWords::of(probe);
    std::array<std::uint64_t, 6> stack{};
    std::uint64_t out = 0;
    for_each_piece(call.payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, header.kind == PieceKind::Stack ? std::as_writable_bytes(std::span(stack)).data()
                                                               : std::as_writable_bytes(std::span(&out, 1)).data());
    });
    const auto begin = [](const auto& of) { return std::as_bytes(std::span(of)).data(); };
    if (words &&
        words->read({begin(call.record.words), begin(stack), std::as_bytes(std::span(&out, 1)).data()}, values))
      for (std::size_t i = 0; i < words->size(); ++i) line += " " + shown(values[i]);
    all.push_back(line);
  }
  std::string shown(std::uint64_t value) {
    if (value < std::uint64_t{1} << 40) return std::to_string(value);
    return "#" + std::to_string(addresses_.try_emplace(value, addresses_.size()).first->second);
  }

  std::map<FunctionId, probes::ProbePtr> probes_;
  std::map<std::uint64_t, std::size_t> addresses_;
};

TEST_F(SummedSessionTest, BooksSeeTheSameWords) {
  const auto records = run({"alike", "200"}, SummedCalls::Never), summed = run({"alike", "200"}, SummedCalls::All);
  EXPECT_EQ(records.status, 0);
  EXPECT_EQ(summed.status, 0);
  EXPECT_GT(summed.sink.summed, 7000u);
  const WordsOf expected(records), seen(summed);
  EXPECT_EQ(expected.all, seen.all);
  EXPECT_EQ(records.sink.all<KernelNamed>().size(), summed.sink.all<KernelNamed>().size());
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
