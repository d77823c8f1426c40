// Copies, memory, streams, devices, overrides and notices as rows of a recording.
#include <gmock/gmock.h>

#include <cmath>

#include "probes/device_properties.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

class Copies : public Recording {};

TEST_F(Copies, HaveDirectionSizeAndAddresses) {
  open();
  tracee->call("hipMemcpyAsync", {0xd00, 0x500, 4096, 1, 0xabc0});
  tracee->call("hipMemcpyDtoH", {0x500, 0xd00, 100});
  tracee->call("hipMemset", {0xd00, 0, 64});
  tracee->call("hipMemsetD32", {0xd00, 0, 64});
  tracee->call("hipMemcpy2D", {0xd00, 512, 0x500, 512, 100, 7});
  finish();
  EXPECT_THAT(
      rows("SELECT name, direction, size, src_hex, dst_hex, stream FROM copies"),
      ElementsAre("hipMemcpyAsync|h2d|4096|0x500|0xd00|43968", "hipMemcpyDtoH|d2h|100|0xd00|0x500|",
                  "hipMemset|set|64||0xd00|", "hipMemsetD32|set|256||0xd00|", "hipMemcpy2D|default|700|0x500|0xd00|"));
  EXPECT_THAT(
      rows("SELECT name, direction, async, n, bytes, small_lt_64k FROM copy_stats WHERE name = 'hipMemcpyAsync'"),
      ElementsAre("hipMemcpyAsync|h2d|1|1|4096|1"));
}

TEST_F(Copies, ThatNeverReturnedOrFailedAreNone) {
  open();
  CallRecord open_copy = tracee->begin("hipMemcpyAsync", {0xd00, 0x500, 1ull << 40, 1, 0xabc0}),
             left = tracee->begin("hipMemcpy", {0xd00, 0x500, 1ull << 41, 1});
  open_copy.flags = 0;
  left.flags = kUnwound;
  tracee->put(open_copy);
  tracee->put(left);
  tracee->fail("hipMemcpy", 1);
  CallRecord unseen = tracee->begin("hipMemcpy", {0xd00, 0x500, 8, 1});
  unseen.flags = kUnseen;
  tracee->put(unseen);
  finish();
  EXPECT_THAT(rows("SELECT name, n, bytes FROM copy_stats"), ElementsAre("hipMemcpy|1|8"));
  EXPECT_THAT(rows("SELECT name, n, bytes FROM copy_sizes"), ElementsAre("hipMemcpy|1|8"));
  EXPECT_THAT(rows("SELECT name, size, result FROM copies"), ElementsAre("hipMemcpy|0|1", "hipMemcpy|8|"));
  EXPECT_EQ(value("SELECT sum(copies) FROM streams"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "4");
}

class Memory : public Recording {};

TEST_F(Memory, IsAccountedFromAllocationToFree) {
  open();
  const CallId first = tracee->malloc(0x10000, 1000);
  tracee->malloc(0x20000, 500);
  const CallId freed = tracee->free(0x10000);
  const Totals totals = finish();
  EXPECT_THAT(
      rows("SELECT device, kind, addr_hex, size, lifetime, alloc_call, free_call FROM allocations ORDER BY addr"),
      ElementsAre("0|device|0x10000|1000|20000|" + std::to_string(first.value()) + "|" + std::to_string(freed.value()),
                  "0|device|0x20000|500||2|"));
  EXPECT_THAT(
      rows(
          "SELECT device, kind, live_at_end, peak, peak_at, allocs, frees, allocated, unknown_frees FROM memory_stats"),
      ElementsAre("0|device|500|1500|21000|2|1|1500|0"));
  EXPECT_THAT(totals.peak_memory, ElementsAre(std::pair<std::string, std::uint64_t>("device 0", 1500)));
}

TEST_F(Memory, TimelineShowsMillisecondsThatChanged) {
  open();
  tracee->malloc(0x10000, 1000);
  for (int i = 0; i < 300; ++i) tracee->call("hipDeviceSynchronize");  // 3 ms go by
  tracee->free(0x10000);
  finish();
  EXPECT_THAT(rows("SELECT ms, used, peak, allocs, frees FROM memory_timeline"),
              ElementsAre("0|1000|1000|1|0", "3|0|1000|0|1"));
}

TEST_F(Memory, BelongsToTheCurrentDeviceOfTheThread) {
  open();
  tracee->thread(2, 1, 101);
  tracee->call("hipSetDevice", {1}, 1);
  tracee->malloc(0x1000, 10, 1);
  tracee->malloc(0x2000, 20, 2);
  finish();
  EXPECT_THAT(rows("SELECT device, size FROM allocations ORDER BY addr"), ElementsAre("1|10", "0|20"));
}

TEST_F(Memory, KindsAreToldApart) {
  open();
  for (const char* symbol : {"hipHostMalloc", "hipMallocManaged"}) {
    const CallRecord record = tracee->begin(symbol, {0x7ffd0000, 64});
    tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000 + record.id.value() * 0x100});
    tracee->put(record);
  }
  finish();
  EXPECT_THAT(rows("SELECT kind FROM allocations ORDER BY addr"), ElementsAre("host", "managed"));
}

TEST_F(Memory, FreesOfUnknownAddressesAreCountedAndOfNullAreNot) {
  open();
  tracee->free(0xbad);
  tracee->free(0);
  finish();
  EXPECT_THAT(rows("SELECT unknown_frees, frees FROM memory_stats"), ElementsAre("1|0"));
}

TEST_F(Memory, FailedCallsChangeNothing) {
  open();
  tracee->malloc(0x1000, 10);
  CallRecord failed = tracee->begin("hipMalloc", {0x7ffd0000, 99});
  failed.result = 2;
  failed.flags |= kFailed;
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x2000});
  tracee->put(failed);
  CallRecord free = tracee->begin("hipFree", {0x1000});
  free.result = 1;
  free.flags |= kFailed;
  tracee->put(free);
  finish();
  EXPECT_THAT(rows("SELECT live_at_end, allocs, frees FROM memory_stats"), ElementsAre("10|1|0"));
}

TEST_F(Memory, OfAParentIsNotTheChilds) {
  open();
  tracee->malloc(0x1000, 10);
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  tracee->free(0x1000, 2);
  finish();
  EXPECT_THAT(rows("SELECT pid, live_at_end, unknown_frees FROM memory_stats ORDER BY pid"),
              ElementsAre("100|10|0", "200|0|1"));
}

TEST_F(Memory, OfAnEndedProcessIsGoneFromTheTimelineButWasLive) {
  open();
  tracee->malloc(0x1000, 10);
  tracee->notice(ProcessEnded{1, 5'000'000, 3, 0});
  finish();
  EXPECT_EQ(value("SELECT live_at_end FROM memory_stats"), "10");
  EXPECT_EQ(value("SELECT used FROM memory_timeline ORDER BY ms DESC"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM allocations WHERE \"end\" IS NULL"), "1");
  EXPECT_EQ(value("SELECT exit_code, \"end\" FROM processes"), "3|5000000");
}

TEST_F(Memory, AbsurdSizesDoNotOverflow) {
  open();
  for (std::uint64_t i = 1; i <= 4; ++i) tracee->malloc(i << 20, ~std::uint64_t{0});
  for (std::uint64_t i = 1; i <= 4; ++i) tracee->free(i << 20);
  finish();
  EXPECT_EQ(value("SELECT peak FROM memory_stats"), "9223372036854775807");
}

TEST_F(Memory, AddressesUsedAgainCloseTheOldAllocation) {
  open();
  tracee->malloc(0x1000, 10);
  tracee->malloc(0x1000, 30);
  finish();
  EXPECT_THAT(rows("SELECT size, free_call FROM allocations ORDER BY id"), ElementsAre("10|", "30|"));
  EXPECT_EQ(value("SELECT live_at_end FROM memory_stats"), "30");
}

class Streams : public Recording {};

TEST_F(Streams, LiveFromCreationToDestruction) {
  open();
  for (int round = 0; round < 2; ++round) {
    const CallRecord create = tracee->begin("hipStreamCreate", {0x7ffd0000});
    tracee->piece(PieceKind::Out, 0, std::uint64_t{0xabc0});
    tracee->put(create);
    tracee->launch(0x500);
    tracee->call("hipStreamSynchronize", {0xabc0});
    tracee->call("hipStreamDestroy", {0xabc0});
  }
  finish();
  EXPECT_THAT(rows("SELECT handle_hex, start, \"end\", launches, syncs FROM streams"),
              ElementsAre("0xabc0|11000|41000|1|1", "0xabc0|51000|81000|1|1"));
}

class Devices : public Recording {
 protected:
  void properties(int units, std::optional<int> instead = std::nullopt) {
    const probes::Layout& layout = probes::layout_r0600();
    std::vector<std::byte> bytes(layout.size);
    const auto set = [&](std::string_view field, auto value) {
      std::memcpy(bytes.data() + layout.find(field)->offset, &value, sizeof value);
    };
    std::memcpy(bytes.data() + layout.find("name")->offset, "AMD Radeon RX 6800 XT", 22);
    std::memcpy(bytes.data() + layout.find("gcnArchName")->offset, "gfx1030", 8);
    set("totalGlobalMem", std::uint64_t{17'163'091'968});
    set("pciBusID", 11);
    set("multiProcessorCount", units);
    const CallRecord record = tracee->begin("hipGetDevicePropertiesR0600", {0x7ffd0000, 0});
    append(PieceKind::Out, bytes);
    if (instead) {
      set("multiProcessorCount", *instead);
      append(PieceKind::Became, bytes);
    }
    tracee->put(record);
  }
  void append(PieceKind kind, const std::vector<std::byte>& bytes) {
    tracee->text(kind, 0, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
};

TEST_F(Devices, AreDescribedByWhatTheProgramWasTold) {
  open();
  properties(36);
  const Totals totals = (tracee->malloc(0x1000, 10), finish());
  EXPECT_THAT(rows("SELECT pid, ordinal, name, arch, pci, total_memory FROM devices"),
              ElementsAre("100|0|AMD Radeon RX 6800 XT|gfx1030|0000:0b:00.0|17163091968"));
  EXPECT_EQ(value("SELECT value, source FROM device_properties WHERE name = 'multiProcessorCount'"),
            "36|api:hipGetDevicePropertiesR0600");
  EXPECT_EQ(totals.peak_memory.at(0).first, "device 0 (AMD Radeon RX 6800 XT)");
}

TEST_F(Devices, KeepOneRowForEachChangeOfAValue) {
  open();
  for (const int units : {36, 36, 36, 72, 72}) properties(units);
  finish();
  EXPECT_THAT(rows("SELECT value FROM device_properties WHERE name = 'multiProcessorCount' ORDER BY id"),
              ElementsAre("36", "72"));
  EXPECT_EQ(value("SELECT count(*) FROM device_properties WHERE name = 'name'"), "1");
}

TEST_F(Devices, TellTheTruthApartFromWhatTheProgramReceived) {
  open();
  properties(36, 72);
  finish();
  EXPECT_THAT(rows("SELECT value, source FROM device_properties WHERE name = 'multiProcessorCount' ORDER BY id"),
              ElementsAre("36|api:hipGetDevicePropertiesR0600", "72|override:hipGetDevicePropertiesR0600"));
  EXPECT_EQ(value("SELECT count(*) FROM device_properties WHERE source LIKE 'override:%'"), "1") << "only what differs";
}

TEST_F(Devices, AnswerSingleQuestionsToo) {
  open();
  const CallRecord attribute = tracee->begin("hipDeviceGetAttribute", {0x7ffd0000, 63, 1});
  tracee->piece(PieceKind::Out, 0, std::int32_t{36});
  tracee->put(attribute);
  const CallRecord memory = tracee->begin("hipMemGetInfo", {0x7ffd0000, 0x7ffd0008});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{1000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{4000});
  tracee->put(memory);
  finish();
  EXPECT_THAT(rows("SELECT device, value FROM device_properties WHERE name = 'hipDeviceAttributeMultiprocessorCount'"),
              ElementsAre("1|36"));
  EXPECT_THAT(rows("SELECT value FROM device_properties WHERE source = 'api:hipMemGetInfo'"), ElementsAre("4000"))
      << "free memory is no property";
}

class Overrides : public Recording {};

TEST_F(Overrides, OfEqualContentAddUp) {
  open();
  tracee->notice(OverrideRule{1, "device.0.multiProcessorCount=72", "device.0.multiProcessorCount", "72", "--set"});
  tracee->notice(OverrideRule{2, "device.0.name=x", "device.0.name", "x", "--set"});
  for (std::int64_t at = 1; at <= 5; ++at)
    tracee->notice(OverrideHit{1, 7, 1, 0, at, 0, "multiProcessorCount", "36", "72"});
  tracee->notice(OverrideHit{1, 8, 1, 0, 9, 1, "multiProcessorCount", "36", "72"});
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT device, was, became, n, first, last, call_id FROM override_hits"),
              ElementsAre("0|36|72|5|1|5|7", "1|36|72|1|9|9|8"));
  EXPECT_THAT(rows("SELECT spec, hits FROM overrides"),
              ElementsAre("device.0.multiProcessorCount=72|6", "device.0.name=x|0"));
  EXPECT_EQ(totals.overrides, 6u);
}

using Products = Recording;

TEST_F(Products, ChecksAreRowsAndProductsLeftOutAreCounted) {
  open();
  tracee->call("hipMemcpy", {0});
  ProductChecked same{.call = 1, .function = 1, .thread = 1, .at = 10, .held_ns = 5, .type = "f32", .ops = "NT"};
  same.elements = 6;
  tracee->notice(same);
  ProductChecked differs = same;
  differs.call = 2;
  differs.differing = 1;
  differs.row = 2;
  differs.column = differs.matrix = 0;
  differs.got = NAN;
  differs.wanted = 1.5;
  differs.folder = "/tmp/x";
  tracee->notice(differs);
  ProductChecked failed = same;
  failed.problem = "no memory";
  tracee->notice(failed);
  tracee->notice(ProductsLeft{1, 1, "captured", 2});
  tracee->notice(ProductsLeft{1, 1, "captured", 3});
  finish();
  EXPECT_THAT(
      rows("SELECT call_id, outcome, held, first_row, first_got, first_wanted, folder, problem FROM blas_checks"),
      ElementsAre("1|same|5|||||", "2|differs|5|2||1.5|/tmp/x|", "1|not compared|5|||||no memory"));
  EXPECT_THAT(rows("SELECT reason, calls FROM blas_unchecked"), ElementsAre("captured|5"));
}

class Numbers : public Recording {
 protected:
  // A copy from the GPU with some NaN.
  static NumbersSeen seen(CallId call, std::uint64_t device, std::uint64_t nan) {
    NumbersSeen out{.call = call, .function = 1, .thread = 1, .at = 10, .down = true, .host = 1 << 20};
    out.device = device;
    out.bytes = out.scanned = 64;
    out.type = "f32";
    out.elements = 16;
    out.nan = nan;
    return out;
  }
};

TEST_F(Numbers, CopiesWithAFindHaveRowsAndAllCopiesHaveSums) {
  open();
  tracee->call("hipMemcpy", {0});
  tracee->notice(seen(1, 4096, 0));
  tracee->notice(seen(2, 4096, 3));
  NumbersSeen told = seen(3, 8192, 0);
  told.checksum = 0xfedcba9876543210;
  told.least = -1.5;
  tracee->notice(told);
  tracee->notice(NumbersLeft{1, false, "too many bytes", 2, 100});
  tracee->notice(NumbersLeft{1, false, "too many bytes", 1, 11});
  finish();
  EXPECT_THAT(rows("SELECT call_id, direction, nan, checksum_hex FROM numbers"),
              ElementsAre("2|d2h|3|", "3|d2h|0|fedcba9876543210"));
  EXPECT_THAT(rows("SELECT device, copies, scanned_bytes, nan, nan_copies, first_nan_id, least FROM number_stats"),
              ElementsAre("4096|2|128|3|1|1|", "8192|1|64|0|0||-1.5"));
  EXPECT_THAT(rows("SELECT direction, reason, copies, bytes FROM numbers_unscanned"),
              ElementsAre("h2d|too many bytes|3|111"));
}

TEST_F(Numbers, NanOfUploadsToTheSameAddressAreKnown) {
  open();
  tracee->call("hipMemcpy", {0});
  NumbersSeen up = seen(1, 4096, 2), clean = seen(2, 8192, 0);
  up.down = clean.down = false;
  tracee->notice(up);
  tracee->notice(clean);
  for (const std::uint64_t device : {4096, 8192, 12288, 16384}) tracee->notice(seen(3, device, 1));
  up.device = 16384;  // later than it came back
  tracee->notice(up);
  finish();
  EXPECT_THAT(rows("SELECT device, uploaded_nan FROM number_stats WHERE direction = 'd2h'"),
              ElementsAre("4096|2", "8192|0", "12288|", "16384|0"));
}

class Actions : public Recording {};

TEST_F(Actions, EachTimeIsARow) {
  open();
  tracee->notice(ActionRule{1, "on hipMalloc do stack", "rules:1"});
  tracee->notice(ActionRule{2, "on hipFree do stop", "rules:2"});
  tracee->call("hipMalloc", {0});
  tracee->notice(ActionDone{1, 1, 1, 0, 0, 5, "stack", ""});
  tracee->notice(ActionDone{1, 1, 1, 0, 0, 6, "limit", "enough"});
  finish();
  EXPECT_THAT(rows("SELECT rule, action, detail, name FROM actions"),
              ElementsAre("1|stack||hipMalloc", "1|limit|enough|hipMalloc"));
  EXPECT_THAT(rows("SELECT rule, spec, done FROM action_rules"),
              ElementsAre("1|on hipMalloc do stack|1", "2|on hipFree do stop|0"));
}

class Notices : public Recording {};

TEST_F(Notices, CommandLinesAreStoredWithoutSecrets) {
  open();
  tracee->notice(ProcessExec{1, 6, "/bin/other", {"other", "--token", "hush", "--max-tokens", "100"}, {}});
  tracee->call("hipFree", {0});
  finish();
  EXPECT_THAT(rows("SELECT command FROM processes"), ElementsAre("other --token '<redacted>' --max-tokens 100"));
}

TEST_F(Notices, BecomeRows) {
  open();
  tracee->notice(ModuleLoaded{1, 1, 5, "/opt/libamdhip64.so.6", "libamdhip64.so.6", "abcd", "hip", "6.4",
                              0x7f0000000000, 4096, 12});
  tracee->notice(ModuleUnloaded{1, 9});
  tracee->notice(ProcessExec{1, 6, "/bin/other", {"other", "it's"}, {}});
  tracee->notice(Lifecycle{7, 1, 1, "exec", 0, "/bin/other"});
  tracee->notice(Drop{8, 2, 3, "tracing paused"});
  tracee->call("hipFree", {0});
  tracee->notice(StopCost{1, 10, 300});
  tracee->notice(StopCost{1, 5, 150});
  tracee->notice(StopCost{0, 1, 7});
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT path, soname, build_id, role, version, sites, base_hex, start, \"end\" FROM modules"),
              ElementsAre("/opt/libamdhip64.so.6|libamdhip64.so.6|abcd|hip|6.4|12|0x7f0000000000|5|9"));
  EXPECT_THAT(rows("SELECT exe, command FROM processes"), ElementsAre(R"(/bin/other|other 'it'\''s')"));
  EXPECT_THAT(rows("SELECT kind, detail, pid FROM lifecycle"), ElementsAre("exec|/bin/other|100"));
  EXPECT_THAT(rows("SELECT n, reason FROM drops"), ElementsAre("3|tracing paused"));
  EXPECT_THAT(rows("SELECT name, stops, held_ns, per_stop_ns FROM overhead"),
              ElementsAre("(other stops)|1|7|7", "hipFree|15|450|30"));
  EXPECT_EQ(totals.dropped, 3u);
}

}  // namespace
}  // namespace fade::store
