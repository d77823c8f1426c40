// Which engine captures a function, over engines that only take notes.
#include "session/engines.hpp"

#include <gmock/gmock.h>

#include "session/harness.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Captures calls that need nothing but registers, or all calls.
struct NotedCapture final : Capture {
  explicit NotedCapture(bool takes_all) : all(takes_all) {}

  bool can(const Entry& entry) const override {
    const Needs& needs = entry.needs;
    return all || (needs.strings.empty() && needs.ins.empty() && !needs.always());
  }
  std::vector<Result<bool>> watch(Inferior&, std::span<const WatchedFunction> functions, Tid) override {
    std::vector<Result<bool>> out;
    for (const WatchedFunction& function : functions) {
      watched.push_back(function.entry);
      out.push_back(all ? Result<bool>(true) : Result<bool>(fail("no room")));
    }
    return out;
  }
  std::optional<std::uint32_t> on_trap(Thread&, const Registers& registers, std::int64_t) override {
    return registers.rip == own_trap ? std::optional(own_entry) : std::nullopt;
  }
  void drain() override { notes.push_back("drain"); }
  void forget(Inferior&, RemoteRange, Tid) override { notes.push_back("forget"); }
  void leave(Inferior&, Tid) override { notes.push_back("leave"); }
  void thread_ended(Thread&, bool) override { notes.push_back("thread"); }
  void set_recording(bool on) override { notes.push_back(on ? "on" : "off"); }

  const bool all;
  std::uint64_t own_trap = 0;
  std::uint32_t own_entry = 0;
  std::vector<std::uint32_t> watched;
  std::vector<std::string> notes;
};

struct EnginesTest : ::testing::Test {
  EnginesTest() {
    engines.add(fast);
    engines.add(slow);
  }
  std::uint32_t function(const std::string& symbol, probes::TypeClass first_parameter) {
    probes::Probe probe = *test::simple_probe(symbol, 1);
    probe.parameters[0].type.cls = first_parameter;
    return functions.function(std::make_shared<const probes::Probe>(std::move(probe)), "/a", 6);
  }

  test::CollectingSink sink;
  const probes::Overrides no_overrides{};
  FunctionTable functions{sink, no_overrides};
  Engines engines{functions};
  NotedCapture fast{false}, slow{true};
  Inferior inferior;
  Thread thread;
};

TEST_F(EnginesTest, TheFirstEngineThatCanCapturesAFunction) {
  EXPECT_EQ(&engines.of({}), &fast);
  EXPECT_EQ(&engines.of({.needs = {.strings = {0}}}), &slow);
  EXPECT_EQ(&engines.of({.needs = {.rule = true}}), &slow);
}

TEST_F(EnginesTest, AResolverNeedsAStop) {
  const auto resolver = functions.resolver(test::simple_probe("hipMalloc", 2), "/a", 6);
  EXPECT_EQ(&engines.of(functions[resolver]), &slow);
}

TEST_F(EnginesTest, EachFunctionIsWatchedByItsEngineAndResultsKeepTheirOrder) {
  const auto plain = function("hipFree", probes::TypeClass::Unsigned),
             text = function("hipGetErrorName", probes::TypeClass::CString),
             other = function("hipStreamDestroy", probes::TypeClass::Unsigned);
  const std::vector<WatchedFunction> wanted{{plain, {}}, {text, {}}, {other, {}}};
  const auto done = engines.watch(inferior, wanted, 0);
  EXPECT_THAT(fast.watched, ElementsAre(plain, other));
  EXPECT_THAT(slow.watched, ElementsAre(text));
  ASSERT_EQ(done.size(), 3u);
  EXPECT_FALSE(done[0]);
  EXPECT_TRUE(done[1] && *done[1]);
  EXPECT_FALSE(done[2]);
}

TEST_F(EnginesTest, ATrapGoesToTheEngineThatItIsOf) {
  fast.own_trap = 1, fast.own_entry = 5;
  slow.own_trap = 2, slow.own_entry = 6;
  Registers registers{};
  registers.rip = 2;
  EXPECT_EQ(engines.on_trap(thread, registers, 0), 6u);
  registers.rip = 3;
  EXPECT_EQ(engines.on_trap(thread, registers, 0), std::nullopt);
}

TEST_F(EnginesTest, AThreadsCallsAreSentBeforeItsEnd) {
  engines.thread_ended(thread, false);
  EXPECT_THAT(fast.notes, ElementsAre("thread", "drain"));
  EXPECT_THAT(slow.notes, ElementsAre("thread", "drain"));
}

TEST_F(EnginesTest, WhatConcernsAProcessGoesToEachEngine) {
  engines.set_recording(false);
  engines.forget(inferior, {}, 0);
  engines.leave(inferior, 0);
  EXPECT_THAT(fast.notes, ElementsAre("off", "forget", "leave"));
  EXPECT_THAT(slow.notes, ElementsAre("off", "forget", "leave"));
  EXPECT_THAT(fast.watched, IsEmpty());
}

}  // namespace
}  // namespace fade
