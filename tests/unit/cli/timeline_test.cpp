// The files of trace viewers, piece by piece.
#include "cli/timeline/timeline.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/query/timeline_formats.hpp"
#include "cli/query/timeline_tracks.hpp"
#include "cli/timeline/arguments.hpp"
#include "cli/timeline/interned.hpp"
#include "cli/timeline/json_events.hpp"
#include "cli/timeline/nesting.hpp"
#include "cli/timeline/perfetto.hpp"
#include "cli/timeline/protobuf.hpp"
#include "cli/timeline/utf8.hpp"

namespace fade::timeline {
namespace {

using testing::ElementsAre;
using testing::Pair;

// https://protobuf.dev/programming-guides/encoding
TEST(Protobuf, WritesTheExamplesOfItsGuide) {
  Message message;
  message.number(1, 150);
  EXPECT_EQ(message.bytes(), "\x08\x96\x01");
  Message text;
  text.text(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");
  Message outer;
  outer.message(3, message);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01");
  Message negative;
  negative.integer(1, -2);
  EXPECT_EQ(negative.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  Message fixed;
  fixed.fixed(1, 2);
  EXPECT_EQ(fixed.bytes(), std::string_view("\x09\x02\0\0\0\0\0\0\0", 9));
}

std::vector<std::pair<std::uint64_t, std::int64_t>> ends_of(const std::function<void(Nesting&)>& use) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> out;
  Nesting nesting([&](std::uint64_t track, std::int64_t at) -> Result<void> {
    out.emplace_back(track, at);
    return {};
  });
  use(nesting);
  EXPECT_TRUE(nesting.finish());
  return out;
}

TEST(Nesting, EndsInnerSlicesFirst) {
  const auto ends = ends_of([](Nesting& n) {
    (void)n.open(1, 0, 100);
    (void)n.open(1, 10, 20);
    (void)n.open(1, 20, 30);
  });
  EXPECT_THAT(ends, ElementsAre(Pair(1u, 20), Pair(1u, 30), Pair(1u, 100)));
}

TEST(Nesting, CutsWhatReachesOut) {
  const auto ends = ends_of([](Nesting& n) {
    (void)n.open(1, 0, 100);
    (void)n.open(1, 50, 150);
    (void)n.open(1, 60, std::nullopt);
  });
  EXPECT_THAT(ends, ElementsAre(Pair(1u, 100), Pair(1u, 100), Pair(1u, 100)));
}

TEST(Nesting, LeavesOpenWhatDidNotEnd) {
  const auto ends = ends_of([](Nesting& n) {
    (void)n.open(1, 0, std::nullopt);
    (void)n.open(1, 10, 20);
    (void)n.open(2, 10, 5);  // a clock that went back
  });
  EXPECT_THAT(ends, testing::UnorderedElementsAre(Pair(1u, 20), Pair(2u, 10)));
}

TEST(Interned, GivesEachTextOneNumber) {
  Interned words;
  EXPECT_EQ(words.number(Words::Event, "a"), 1u);
  EXPECT_EQ(words.number(Words::Event, "b"), 2u);
  EXPECT_EQ(words.number(Words::Category, "a"), 1u);
  words.clear_fresh();
  EXPECT_EQ(words.number(Words::Event, "a"), 1u);
  EXPECT_TRUE(words.fresh().is_empty());
  const std::string large(Interned::kMostBytes, 'x');
  words.number(Words::Event, large);
  EXPECT_TRUE(words.is_full());
  words.forget();
  EXPECT_FALSE(words.is_full());
  EXPECT_EQ(words.number(Words::Event, "b"), 1u);
}

TEST(CallArguments, AreReadOneByOne) {
  CallArguments reader;
  const auto all = reader.read(R"({"ptr":"0x7f","size":4096,"on":true,"x":1.5,"dim":[1,{"a":"b"},[]],"none":null})");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].name, "ptr");
  EXPECT_EQ(std::get<std::string_view>(all[0].value), "0x7f");
  EXPECT_EQ(std::get<std::int64_t>(all[1].value), 4096);
  EXPECT_EQ(std::get<bool>(all[2].value), true);
  EXPECT_EQ(std::get<double>(all[3].value), 1.5);
  EXPECT_EQ(std::get<Json>(all[4].value).text, R"([1,{"a":"b"},[]])");
  EXPECT_EQ(std::get<Json>(all[5].value).text, "null");
}

TEST(CallArguments, WhatIsNoObjectIsOneText) {
  CallArguments reader;
  for (const std::string text : {"", "[1]", "{\"a\":", "{} x", "\"a\"", "1", "\xff"}) {
    const auto all = reader.read(text);
    ASSERT_EQ(all.size(), 1u) << text;
    EXPECT_EQ(std::get<std::string_view>(all[0].value), text);
  }
  EXPECT_TRUE(reader.read("{}").empty());
}

TEST(CallArguments, DepthAndNumberAreNoProblem) {
  CallArguments reader;
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_EQ(std::get<Json>(reader.read(deep)[0].value).text.size(), 200000u);
  std::string many = "{";
  for (int i = 0; i < 200; ++i) many += (i ? ",\"a" : "\"a") + std::to_string(i) + "\":1";
  const auto all = reader.read(many + "}");
  ASSERT_EQ(all.size(), CallArguments::kMost + 1);
  EXPECT_EQ(std::get<std::int64_t>(all.back().value), 100);
}

TEST(Texts, AreCutAndEscaped) {
  EXPECT_EQ(valid_utf8("a\x1b\xff"), "a\\x1b\\xff");
  EXPECT_EQ(valid_utf8("\xc3\xa4"), "\xc3\xa4");
  std::string text(kMostText - 1, 'x');
  text += "\xc3\xa4\xc3\xa4";
  EXPECT_EQ(cut_text(text), std::string(kMostText - 1, 'x') + "... (4 more bytes)");
  EXPECT_EQ(cut_text("short"), "short");
}

// Everything once, through the interface.
void write_all(Writer& writer) {
  Head head{.name = "a \"program\"", .epoch_ns = 1000, .boot_ns = 500, .end = 9000, .rank = 2, .world = 4};
  head.devices = {{0, "GPU", "gfx90a", 1 << 20, 36}};
  head.notes = {{"state", "not closed"}};
  ASSERT_TRUE(writer.begin(head));
  ASSERT_TRUE(writer.track({.id = 1, .place = Place::Process, .pid = 7, .name = "p", .command = "p -x"}));
  ASSERT_TRUE(writer.track({.id = 2, .parent = 1, .place = Place::Thread, .pid = 7, .tid = 8, .name = "t"}));
  ASSERT_TRUE(writer.track({.id = 3, .parent = 1, .place = Place::Counter, .name = "memory", .is_bytes = true}));
  ASSERT_TRUE(
      writer.track({.id = 4, .parent = 1, .place = Place::Device, .name = "GPU 0, queue 1", .device = 0, .stream = 3}));
  ASSERT_TRUE(writer.track({.id = 5, .parent = 2, .place = Place::Lane, .name = "steps", .folds = true}));
  const std::vector<Argument> arguments{{"result", std::string_view("hipErrorX"), true}, {"n", std::int64_t{-3}}};
  ASSERT_TRUE(writer.slice({.track = 2,
                            .start = 1500,
                            .end = 2750,
                            .name = "hipLaunchKernel",
                            .category = "hip",
                            .arguments = arguments,
                            .call_arguments = arguments,
                            .flow_out = 11}));
  const std::vector<Argument> work{{"stream", std::int64_t{3}}};
  ASSERT_TRUE(writer.slice(
      {.track = 4, .start = 3000, .end = 4000, .name = "k", .category = "kernel", .arguments = work, .flow_in = 11}));
  ASSERT_TRUE(writer.slice({.track = 5, .start = 1000, .end = 5000, .name = "ProfilerStep#1", .category = "step"}));
  ASSERT_TRUE(writer.slice({.track = 2, .start = 6000, .name = "open", .category = "hip"}));
  ASSERT_TRUE(writer.instant({.track = 2, .start = 2000, .end = 2000, .name = "mark", .category = "range"}));
  ASSERT_TRUE(writer.count(3, 1234, 4096));
  ASSERT_TRUE(writer.end());
}

nlohmann::json json_of(std::unique_ptr<Writer> (*make)(table::Bytes&)) {
  table::StringBytes out;
  write_all(*make(out));
  return nlohmann::json::parse(out.text);
}

nlohmann::json event_named(const nlohmann::json& trace, const std::string& name) {
  for (const auto& event : trace["traceEvents"])
    if (event["name"] == name) return event;
  return {};
}

TEST(KinetoWriter, WritesTheFormOfPyTorch) {
  const auto trace = json_of(make_kineto_writer);
  EXPECT_EQ(trace["schemaVersion"], 1);
  EXPECT_EQ(trace["baseTimeNanoseconds"], 1000);
  EXPECT_EQ(trace["distributedInfo"]["rank"], 2);
  EXPECT_EQ(trace["deviceProperties"][0]["name"], "GPU");
  const auto call = event_named(trace, "hipLaunchKernel");
  EXPECT_EQ(call["cat"], "cuda_runtime");
  EXPECT_EQ(call["ts"], 1.5);
  EXPECT_EQ(call["dur"], 1.25);
  EXPECT_EQ(call["args"]["correlation"], 11);
  EXPECT_EQ(call["args"]["arguments"]["n"], -3);
  const auto kernel = event_named(trace, "k");
  EXPECT_EQ(kernel["pid"], 0);
  EXPECT_EQ(kernel["tid"], 3);
  EXPECT_EQ(kernel["args"]["correlation"], 11);
  EXPECT_EQ(event_named(trace, "ProfilerStep#1")["tid"], 8);  // the thread's own
  EXPECT_EQ(event_named(trace, "open")["dur"], 3.0);          // to the end
}

TEST(ChromeWriter, GivesLanesTheirOwnRows) {
  const auto trace = json_of(make_chrome_writer);
  EXPECT_EQ(event_named(trace, "hipLaunchKernel")["cat"], "hip");
  EXPECT_GE(event_named(trace, "ProfilerStep#1")["tid"], 1 << 22);
  EXPECT_EQ(event_named(trace, "k")["pid"], 7);
  EXPECT_EQ(event_named(trace, "memory")["args"]["bytes"], 4096);
  EXPECT_EQ(trace["otherData"]["state"], "not closed");
}

TEST(PerfettoWriter, StopsAtTheFirstError) {
  struct Full : table::Bytes {
    Result<void> write(std::string_view) override { return fail("full"); }
  } full;
  const auto writer = make_perfetto_writer(full);
  EXPECT_FALSE(writer->begin({}));
  table::StringBytes out;
  write_all(*make_perfetto_writer(out));
  EXPECT_TRUE(out.text.starts_with("\x0a"));  // the first packet
}

TEST(TimelineTracks, PutOverlappingSlicesSideBySide) {
  table::StringBytes out;
  const auto writer = make_chrome_writer(out);
  query::TimelineTracks tracks(*writer);
  const auto process = tracks.process({.session = 1, .pid = 5});
  EXPECT_EQ(*tracks.process({.session = 1, .pid = 5}), *process);
  const query::TimelineTracks::Lane lane{.parent = *process, .name = "q"};
  const auto first = tracks.lane_for(lane, 0, 10), second = tracks.lane_for(lane, 5, 15),
             third = tracks.lane_for(lane, 10, 12);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*first, *third);
  EXPECT_EQ(*tracks.lane(lane), *first);
}

TEST(TimelineFormats, AreChosenByTheEnding) {
  EXPECT_EQ(query::timeline_format_of("a.pftrace"), "perfetto");
  EXPECT_EQ(query::timeline_format_of("w.1.pt.trace.json.gz"), "kineto");
  EXPECT_EQ(query::timeline_format_of("run_results.db"), "rocpd");
  EXPECT_EQ(query::timeline_format_of("run_results.db.gz"), "");
  EXPECT_EQ(query::timeline_format_of("a.json"), "");
  EXPECT_EQ(query::find_timeline_format("jsonl"), nullptr);
}

}  // namespace
}  // namespace fade::timeline
