// Launches, copies, memory, streams, devices, overrides: what calls say besides that they happened.
#include "probes/device_properties.hpp"
#include "store/directory.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CurrentDevice : public Recording {};

TEST_F(CurrentDevice, OfAThreadIsARowWhenItBecomesKnownOrAnotherOne) {
  open();
  for (const std::uint64_t device : {0, 0, 1, 1, 0}) tracee->call("hipSetDevice", {device});
  tracee->fail("hipSetDevice", 101);
  const CallRecord asked = tracee->begin("hipGetDevice", {0x7ffd0000});
  tracee->piece(PieceKind::Out, 0, std::int32_t{2});
  tracee->put(asked);
  finish();
  EXPECT_THAT(rows("SELECT thread_id, call_id, device FROM thread_devices ORDER BY call_id"),
              ElementsAre("1|1|0", "1|3|1", "1|5|0", "1|7|2"));
}

TEST_F(CurrentDevice, IsNotWrittenWhereNoCallsAre) {
  open({.detail = Detail::Stats});
  tracee->call("hipSetDevice", {1});
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM thread_devices"), "0");
}

class Launches : public Recording {};

TEST_F(Launches, HaveNameGeometryAndStream) {
  open();
  tracee->notice(KernelNamed{1, 0x500, "_Z6squarePfi", "/bin/prog"});
  tracee->launch(0x500, 4, 64);
  tracee->launch(0x500, 4, 64);
  tracee->launch(0x500, 8, 32);
  finish();
  EXPECT_THAT(rows("SELECT name, mangled, library, grid_x, grid_y, block_x, shared_bytes, stream_hex, function FROM "
                   "launches WHERE id = 1"),
              ElementsAre("square(float*, int)|_Z6squarePfi|/bin/prog|4|1|64|512|0xabc0|hipLaunchKernel"));
  EXPECT_THAT(rows("SELECT name, grid_x, launches, launch_total_ns FROM kernel_stats ORDER BY grid_x"),
              ElementsAre("square(float*, int)|4|2|2000", "square(float*, int)|8|1|1000"));
  EXPECT_EQ(value("SELECT count(*) FROM launch_"), "2") << "equal launches share a row";
  EXPECT_EQ(value("SELECT launches, copies, syncs FROM streams"), "3|0|0");
}

TEST_F(Launches, OfAHandleWithoutNameShowTheHandle) {
  open();
  tracee->launch(0x7f0012345678);
  finish();
  EXPECT_EQ(value("SELECT name FROM launches"), "0x7f0012345678");
}

TEST_F(Launches, FindNamesThatModuleFunctionsWereGotBy) {
  open();
  const CallRecord got = tracee->begin("hipModuleGetFunction", {0x7ffd0000, 0x99, 0x7ffd1000});
  tracee->text(PieceKind::String, 2, "saxpy");
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x7700});
  tracee->put(got);
  const CallRecord launch = tracee->begin("hipModuleLaunchKernel", {0x7700, 10, 1, 1, 128, 1});
  tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 5>{1, 64, 0, 0, 0});
  tracee->put(launch);
  finish();
  EXPECT_THAT(rows("SELECT name, grid_x, block_x, shared_bytes, stream FROM launches"),
              ElementsAre("saxpy|10|128|64|0"));
}

// The same words again mean the same launch, but for what they do not tell.
class RepeatedLaunches : public Recording {
 protected:
  void launch(const std::string& function, std::uint64_t stream, ThreadId thread = 1) {
    const CallRecord record =
        tracee->begin(function, {0x500, 1ull << 32 | 4, 1, 1ull << 32 | 64, 1, ++arguments_}, thread);
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{512, stream});
    tracee->put(record);
  }

 private:
  std::uint64_t arguments_ = 0x7ffd00001000;
};

TEST_F(RepeatedLaunches, GoToTheDefaultStreamOfTheThreadsDevice) {
  open();
  for (const std::uint64_t device : {0, 1, 0}) {
    tracee->call("hipSetDevice", {device});
    launch("hipLaunchKernel", 0);
    launch("hipLaunchKernel", 0);
  }
  finish();
  EXPECT_THAT(rows("SELECT device, launches FROM streams ORDER BY device"), ElementsAre("0|4", "1|2"));
}

TEST_F(RepeatedLaunches, GoToEachThreadsOwnStream) {
  open();
  tracee->thread(2, 1, 101);
  for (int i = 0; i < 2; ++i)
    for (const ThreadId thread : {1, 2}) {
      launch("hipLaunchKernel_spt", 0, thread);
      launch("hipLaunchKernel", 2, thread);
      launch("hipLaunchKernel", 0, thread);
    }
  finish();
  EXPECT_THAT(rows("SELECT kind, tid, launches FROM streams ORDER BY tid"),
              ElementsAre("default||4", "per-thread default|100|4", "per-thread default|101|4"));
}

TEST_F(RepeatedLaunches, AreNotRunWhileTheirStreamIsCaptured) {
  open();
  for (int i = 0; i < 2; ++i) launch("hipLaunchKernel", 0xa0);
  tracee->call("hipStreamBeginCapture", {0xa0, 0});
  for (int i = 0; i < 2; ++i) launch("hipLaunchKernel", 0xa0);
  tracee->call("hipStreamEndCapture", {0xa0, 0x7ffd0000});
  launch("hipLaunchKernel", 0xa0);
  finish();
  EXPECT_THAT(rows("SELECT captured, count(*) FROM launches GROUP BY 1"), ElementsAre("0|3", "1|2"));
  EXPECT_EQ(value("SELECT launches FROM kernel_stats"), "3");
}

TEST_F(RepeatedLaunches, CountForTheirThread) {
  open();
  tracee->thread(2, 1, 101);
  for (int i = 0; i < 6; ++i) launch("hipLaunchKernel", 0xa0, 1 + i % 2);
  tracee->fail("hipLaunchKernel", 1);
  finish();
  EXPECT_THAT(rows("SELECT tid, sum(calls), sum(errors) FROM call_stats GROUP BY 1"),
              ElementsAre("100|4|1", "101|3|0"));
}

TEST_F(Launches, InAnotherProcessDoNotTakeItsNames) {
  open();
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  tracee->notice(KernelNamed{1, 0x500, "one", ""});
  tracee->notice(KernelNamed{2, 0x500, "two", ""});
  tracee->launch(0x500, 1, 1, 1);
  tracee->launch(0x500, 1, 1, 2);
  finish();
  EXPECT_THAT(rows("SELECT pid, name FROM launches"), ElementsAre("100|one", "200|two"));
}

TEST_F(Launches, OfUnwantedKernelsAreOnlyCounted) {
  open({.kernel_include = {"^wanted"}, .kernel_exclude = {"not$"}});
  tracee->notice(KernelNamed{1, 1, "wanted", ""});
  tracee->notice(KernelNamed{1, 2, "wanted_not", ""});
  tracee->notice(KernelNamed{1, 3, "other", ""});
  for (std::uint64_t kernel : {1, 2, 3, 1}) tracee->launch(kernel);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches"), ElementsAre("wanted", "wanted"));
  EXPECT_EQ(value("SELECT sum(launches) FROM kernel_stats"), "4");
  EXPECT_THAT(rows("SELECT * FROM drops"), IsEmpty());
}

TEST(KernelFilters, ThatAreNoRegularExpressionsAreRefused) {
  const TemporaryDirectory directory;
  EventQueue queue;
  const auto opened = Writer::open({.path = directory.file("x.db"), .kernel_include = {"("}}, {}, queue);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("'('"));
  EXPECT_FALSE(std::filesystem::exists(directory.file("x.db"))) << "nothing is left behind";
}

class Failures : public Recording {};

// hipErrorNotReady (600) is an answer of every function; 801 is one of hipDeviceGetAttribute alone.
TEST_F(Failures, ThatAreAnswersAreInNoCount) {
  open();
  tracee->fail("hipDeviceGetAttribute", 801);
  tracee->fail("hipMalloc", 801);
  tracee->fail("hipEventSynchronize", 600);
  const Totals totals = finish();
  EXPECT_EQ(totals.errors, 1U);
  EXPECT_EQ(value("SELECT sum(errors) FROM top"), "1");
  EXPECT_EQ(value("SELECT sum(errors) FROM process_use"), "1");
  EXPECT_EQ(value("SELECT sum(errors) FROM caller_stats"), "1");
  EXPECT_EQ(value("SELECT sum(failed) FROM calls"), "1");
  EXPECT_EQ(value("SELECT failures FROM verdicts"), "1");
  EXPECT_EQ(value("SELECT n FROM checks WHERE condition = 'errors'"), "1");
  EXPECT_THAT(rows("SELECT name, normal FROM failures ORDER BY id"),
              ElementsAre("hipDeviceGetAttribute|1", "hipMalloc|0", "hipEventSynchronize|1"));
}

TEST_F(Launches, OfTheExportForCppAreOfTheSameFunction) {
  EXPECT_EQ(plain_name("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_t"), "hipExtModuleLaunchKernel");
  for (const char* other : {"hipMalloc", "_ZN8hip_impl22hipLaunchKernelGGLImplEm", "_Z99short", "_Z", "_Z3"})
    EXPECT_EQ(plain_name(other), other);
  open();
  const std::string mangled =
      "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j";
  for (const std::string& symbol : {mangled, std::string("hipExtModuleLaunchKernel"), mangled}) {
    const CallRecord launch = tracee->begin(symbol, {0x7700, 64, 1, 1, 64, 1});
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 8>{1, 0, 0, 0, 0, 0, 0, 0});
    tracee->put(launch);
  }
  finish();
  EXPECT_THAT(rows("SELECT name, calls FROM top"), ElementsAre("hipExtModuleLaunchKernel|3"));
  EXPECT_THAT(rows("SELECT name FROM calls"),
              ElementsAre("hipExtModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipExtModuleLaunchKernel"));
}

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
      ElementsAre("0|device|0x10000|1000|20000|" + std::to_string(first) + "|" + std::to_string(freed),
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
    tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000 + record.id * 0x100});
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

class Bindings : public Recording {
 protected:
  void module(ModuleId id, const std::string& file, const std::string& role) {
    tracee->notice(ModuleLoaded{.module = id,
                                .process = 1,
                                .at = id.value(),
                                .path = file,
                                .build_id = "ab",
                                .role = role,
                                .base = 0x1000,
                                .size = 10});
  }
  void origin(ModuleId id, const std::string& family, const std::string& version, const std::string& rule) {
    const bool rocm = family == "libamdhip64";
    tracee->notice(ModuleOrigin{.module = id,
                                .family = family,
                                .kind = rocm ? "rocm" : "openmp",
                                .version = version,
                                .rocm = rocm ? version.substr(0, 3) : "",
                                .rule = rule,
                                .asker = 1,
                                .not_taken = {}});
  }
  using State = ImportsBound::State;
};

TEST_F(Bindings, AreThoseOfTheLastLook) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/lib/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  tracee->notice(ImportsBound{1, 5, {{"hip", State::NotYet, 0, {"hipFree", "hipMalloc"}}}});
  tracee->notice(ImportsBound{1,
                              9,
                              {{"hip", State::Bound, 2, {"hipMalloc"}},
                               {"hip", State::NotYet, 0, {"hipFree"}},
                               {"roctx", State::Absent, 0, {"roctxMarkA"}}}});
  finish();
  EXPECT_THAT(rows("SELECT module, api, state, library, version, rocm, found_by, asked_by, functions, names, read_at "
                   "FROM bindings ORDER BY names"),
              ElementsAre("/bin/prog|hip|not called yet||||||1|hipFree|9",
                          "/bin/prog|hip|bound|/lib/libamdhip64.so.6|6.4.43484|6.4|RPATH|/bin/prog|1|hipMalloc|9",
                          "/bin/prog|roctx|not found||||||1|roctxMarkA|9"));
  EXPECT_THAT(rows("SELECT kind FROM environment_findings"), IsEmpty());
}

TEST_F(Bindings, CopiesAreFoundOnlyWhereTheyWereLoadedTogether) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/a/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  tracee->notice(ModuleUnloaded{2, 3});
  module(3, "/b/libamdhip64.so.6", "hip");
  origin(3, "libamdhip64", "6.4.43484", "dlopen");
  tracee->notice(Lifecycle{4, 1, 1, "exec", 0, "/bin/other"});
  module(5, "/c/libamdhip64.so.6", "hip");
  origin(5, "libamdhip64", "6.4.43484", "system");
  finish();
  EXPECT_THAT(rows("SELECT kind FROM environment_findings"), IsEmpty());
}

TEST_F(Bindings, TellCopiesMixedReleasesAndWhatStandsBetween) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/a/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  module(3, "/b/libamdhip64.so.7", "hip");
  origin(3, "libamdhip64", "7.2.53211", "LD_LIBRARY_PATH");
  module(4, "/tmp/shim.so", "");
  module(5, "/x/libgomp.so.1", "");
  origin(5, "libgomp", "1.0.0", "system");
  module(6, "/y/libomp.so", "");
  origin(6, "libomp", "", "dlopen");
  tracee->notice(ImportsBound{1, 9, {{"hip", State::Bound, 4, {"hipMalloc"}}}});
  finish();
  EXPECT_THAT(rows("SELECT kind, severity, subject FROM environment_findings ORDER BY kind"),
              ElementsAre("interposed|warning|/tmp/shim.so", "mixed-openmp|warning|libgomp,libomp",
                          "mixed-rocm|warning|ROCm 6.4, 7.2", "several-copies|warning|libamdhip64"));
  EXPECT_EQ(value("SELECT text FROM environment_findings WHERE kind = 'interposed'"),
            "1 hip function of /bin/prog is answered by /tmp/shim.so, which is no HIP runtime: hipMalloc.");
  EXPECT_EQ(value("SELECT text FROM environment_findings WHERE kind = 'mixed-rocm'"),
            "Libraries of 2 releases of ROCm are loaded in one process: 6.4: /a/libamdhip64.so.6 (6.4.43484); 7.2: "
            "/b/libamdhip64.so.7 (7.2.53211).");
  EXPECT_EQ(value("SELECT count(*) FROM environment_findings WHERE text IS NULL OR advice IS NULL"), "0");
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
