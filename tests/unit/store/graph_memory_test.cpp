// Memory of graphs: what is captured or added as a node is allocated by the launch, by each launch, and not before.
#include "store/graph_memory.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "store/store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kStream = 0xa0, kGraph = 0x6000, kExec = 0xe000;

class GraphMemoryLedger : public Recording {
 protected:
  static constexpr const char* kStats = "SELECT kind, live_at_end, peak, allocs, frees FROM memory_stats ORDER BY kind";
  struct Params {  // hipMemAllocNodeParams
    std::int32_t type = 1, handles = 0, location = 1, device = 0;
    std::uint64_t pool[11]{}, bytes = 0, address = 0;
  };
  static_assert(sizeof(Params) - sizeof(std::uint64_t) == 112);  // where the address is

  void SetUp() override { open(); }
  void made(const std::string& symbol, std::array<std::uint64_t, 6> words, std::uint8_t parameter,
            std::uint64_t handle) {
    const CallRecord record = tracee->begin(symbol, words);
    tracee->piece(PieceKind::Out, parameter, handle);
    tracee->put(record);
  }
  CallId malloc_async(std::uint64_t address, std::uint64_t bytes) {
    const CallRecord record = tracee->begin("hipMallocAsync", {0x7ffd1000, bytes, kStream});
    tracee->piece(PieceKind::Out, 0, address);
    return tracee->put(record);
  }
  CallId free_async(std::uint64_t address) { return tracee->call("hipFreeAsync", {address, kStream}); }
  void begin_capture() { tracee->call("hipStreamBeginCapture", {kStream, 0}); }
  void end_capture() { made("hipStreamEndCapture", {kStream, 0x7ffd0000}, 1, kGraph); }
  void instantiate(std::uint64_t flags = 0) {
    made("hipGraphInstantiateWithFlags", {0x7ffd0000, kGraph, flags}, 0, kExec);
  }
  CallId launch() { return tracee->call("hipGraphLaunch", {kExec, kStream}); }
  void add_allocation(std::uint64_t address, std::uint64_t bytes, int device = 0, std::uint64_t node = 0x70) {
    Params params;
    params.device = device;
    params.bytes = bytes;
    params.address = address;
    const CallRecord record = tracee->begin("hipGraphAddMemAllocNode", {0x7ffd0000, kGraph, 0, 0, 0x7ffd2000});
    tracee->piece(PieceKind::Out, 0, node);
    tracee->piece(PieceKind::Out, 4, params);
    tracee->put(record);
  }
  void add_free(const std::string& symbol, std::uint64_t address) {
    made(symbol, {0x7ffd0000, kGraph, 0, 0, address}, 0, 0x71);
  }
  // Asks the runtime, whose answer is kept beside what the ledger has then.
  void look() {
    const CallRecord record = tracee->begin("hipMemGetInfo", {0x7ffd1000, 0x7ffd2000});
    tracee->piece(PieceKind::Out, 0, std::uint64_t{1});
    tracee->piece(PieceKind::Out, 1, std::uint64_t{2});
    tracee->put(record);
  }
  std::vector<std::string> seen() const { return rows("SELECT ledger FROM memory_told ORDER BY start"); }
};

TEST_F(GraphMemoryLedger, OfACaptureIsAllocatedByEachLaunch) {
  begin_capture();
  const CallId allocated = malloc_async(0x1000, 100);
  malloc_async(0x2000, 50);
  free_async(0x1000);
  end_capture();
  instantiate();
  look();
  const CallId first = launch();
  look();
  free_async(0x2000);
  const CallId second = launch();
  finish();
  EXPECT_THAT(seen(), ElementsAre("0", "50"));
  EXPECT_THAT(rows(kStats), ElementsAre("graph|50|150|4|3"));
  EXPECT_EQ(value("SELECT sum(unknown_frees) FROM memory_stats"), "0");
  EXPECT_THAT(
      rows("SELECT name, alloc_call, free_call, size FROM allocations WHERE addr = 4096"),
      ElementsAre(
          "hipMallocAsync|" + std::to_string(allocated.value()) + "|" + std::to_string(first.value()) + "|100",
          "hipMallocAsync|" + std::to_string(allocated.value()) + "|" + std::to_string(second.value()) + "|100"));
}

TEST_F(GraphMemoryLedger, OfAGraphThatIsNeverLaunchedIsNoMemory) {
  begin_capture();
  malloc_async(0x1000, 100);
  end_capture();
  instantiate();
  tracee->fail("hipGraphLaunch", 1);
  finish();
  EXPECT_THAT(rows(kStats), IsEmpty());
  EXPECT_THAT(rows("SELECT * FROM allocations"), IsEmpty());
}

TEST_F(GraphMemoryLedger, OtherStreamsAllocateAtOnceWhileOneCaptures) {
  begin_capture();
  const CallRecord record = tracee->begin("hipMallocAsync", {0x7ffd1000, 100, kStream + 8});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->put(record);
  tracee->malloc(0x2000, 10);
  tracee->free(0x2000);
  end_capture();
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("device|100|110|2|1"));
}

TEST_F(GraphMemoryLedger, OfNodesIsOnTheDeviceTheyName) {
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100, 1);
  add_allocation(0x2000, 40, 0);
  add_free("hipGraphAddMemFreeNode", 0x1000);
  add_free("hipDrvGraphAddMemFreeNode", 0x2000);
  instantiate();
  launch();
  finish();
  EXPECT_THAT(
      rows("SELECT device, kind, live_at_end, peak, allocs, frees, unknown_frees FROM memory_stats ORDER BY device"),
      ElementsAre("0|graph|0|40|1|1|0", "1|graph|0|100|1|1|0"));
  EXPECT_THAT(rows("SELECT DISTINCT name FROM allocations"), ElementsAre("hipGraphAddMemAllocNode"));
}

TEST_F(GraphMemoryLedger, OfAnyNodeIsReadFromTheUnion) {
  struct {
    std::int32_t type, reserved[3];
    Params alloc;
    std::byte rest[120]{};
  } node{10, {}, {}};
  node.alloc.bytes = 100;
  node.alloc.address = 0x1000;
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  const auto add = [&] {
    const CallRecord record = tracee->begin("hipGraphAddNode", {0x7ffd0000, kGraph, 0, 0, 0x7ffd2000});
    tracee->piece(PieceKind::In, 4, node);
    tracee->piece(PieceKind::Out, 0, std::uint64_t{0x70});
    tracee->piece(PieceKind::Out, 4, node);
    tracee->put(record);
  };
  add();
  instantiate();
  launch();
  look();
  node.type = 11;
  std::memcpy(&node.alloc.type, &node.alloc.address,
              sizeof node.alloc.type);  // of the address, the lower half: the upper one is 0
  node.alloc.handles = 0;
  add();
  node.type = 1;  // a copy
  add();
  instantiate();
  tracee->call("hipFree", {0x1000});
  launch();
  finish();
  EXPECT_THAT(seen(), ElementsAre("100"));
  EXPECT_THAT(rows(kStats), ElementsAre("graph|0|100|2|2"));
}

TEST_F(GraphMemoryLedger, IsFreedBeforeTheNextLaunchWhereTheFlagSaysSo) {
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100);
  instantiate(1);
  for (int i = 0; i < 5; ++i) launch();
  tracee->call("hipGraphExecDestroy", {kExec});
  tracee->call("hipGraphDestroy", {kGraph});
  look();  // destroying frees nothing
  finish();
  EXPECT_THAT(seen(), ElementsAre("100"));
  EXPECT_THAT(rows(kStats), ElementsAre("graph|100|100|5|4"));
  EXPECT_EQ(value("SELECT count(*) FROM allocations WHERE free_call IS NULL"), "1");
}

TEST_F(GraphMemoryLedger, GoesWithClonesChildrenUpdatesAndNestedLaunches) {
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100);
  made("hipGraphClone", {0x7ffd0000, kGraph}, 0, kGraph + 1);
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph + 2);
  made("hipGraphAddChildGraphNode", {0x7ffd0000, kGraph + 2, 0, 0, kGraph + 1}, 0, 0x72);
  made("hipGraphInstantiate", {0x7ffd0000, kGraph + 2, 0, 0, 0}, 0, kExec);
  begin_capture();
  launch();
  end_capture();
  look();
  made("hipGraphInstantiate", {0x7ffd0000, kGraph, 0, 0, 0}, 0, kExec + 1);
  tracee->call("hipGraphLaunch", {kExec + 1, 0});
  look();
  tracee->call("hipFree", {0x1000});
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph + 3);
  tracee->call("hipGraphExecUpdate", {kExec + 1, kGraph + 3, 0, 0});
  tracee->call("hipGraphLaunch", {kExec + 1, 0});
  look();
  finish();
  EXPECT_THAT(seen(), ElementsAre("0", "100", "0"));
  EXPECT_THAT(rows(kStats), ElementsAre("graph|0|100|1|1"));
}

TEST_F(GraphMemoryLedger, OfANodeThatWasTakenOutAgainIsNone) {
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100, 0, 0x70);
  add_allocation(0x2000, 30, 0, 0x90);
  tracee->call("hipGraphDestroyNode", {0x70});
  instantiate();
  launch();
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("graph|30|30|1|0"));
}

TEST_F(GraphMemoryLedger, RunsOutWithWhatTheGraphNeedsAtOnce) {
  tracee->malloc(0x9000, 7);
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100);
  add_free("hipGraphAddMemFreeNode", 0x1000);
  add_allocation(0x2000, 1000);
  instantiate();
  CallRecord record = tracee->begin("hipGraphLaunch", {kExec, kStream});
  record.result = 2;
  record.flags |= kFailed;
  tracee->put(record);
  finish();
  EXPECT_THAT(rows("SELECT name, asked, used FROM ooms"), ElementsAre("hipGraphLaunch|1000|7"));
  EXPECT_THAT(rows(kStats), ElementsAre("device|7|7|1|0"));
}

TEST_F(GraphMemoryLedger, OfACaptureThatWasInvalidatedIsForgotten) {
  begin_capture();
  malloc_async(0x1000, 100);
  CallRecord record = tracee->begin("hipStreamEndCapture", {kStream, 0x7ffd0000});
  record.result = 901;
  record.flags |= kFailed;
  tracee->put(record);
  malloc_async(0x2000, 20);  // for real
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("device|20|20|1|0"));
}

TEST_F(GraphMemoryLedger, OfAnotherThreadsCaptureStaysWithIt) {
  begin_capture();
  CallRecord record = tracee->begin("hipStreamEndCapture", {kStream, 0x7ffd0000});
  record.result = 908;  // hipErrorStreamCaptureWrongThread: it goes on
  record.flags |= kFailed;
  tracee->put(record);
  malloc_async(0x1000, 100);
  end_capture();
  finish();
  EXPECT_THAT(rows(kStats), IsEmpty());
}

TEST_F(GraphMemoryLedger, IsShownAmongWhatWasLiveAtThePeak) {
  made("hipGraphCreate", {0x7ffd0000, 0}, 0, kGraph);
  add_allocation(0x1000, 100);
  add_free("hipGraphAddMemFreeNode", 0x1000);
  instantiate();
  launch();
  finish();
  EXPECT_EQ(
      value("SELECT count(*) FROM allocations a, memory_totals m WHERE a.start <= m.peak_at AND a.\"end\" > m.peak_at"),
      "1");
}

TEST(GraphMemory, MostAtOnceStopsAtTheEndOfItsRange) {
  const auto piece = [](std::uint64_t address, std::uint64_t bytes, bool frees = false) {
    GraphMemory out;
    out.allocation.address = address;
    out.allocation.bytes = bytes;
    out.frees = frees;
    return out;
  };
  EXPECT_EQ(most_at_once({}), 0u);
  EXPECT_EQ(most_at_once({piece(1, 10), piece(2, 20), piece(1, 0, true), piece(3, 15), piece(9, 0, true)}), 35u);
  EXPECT_EQ(most_at_once({piece(1, 10), piece(1, 10)}), 10u);
  EXPECT_EQ(most_at_once({piece(1, ~0ull), piece(2, 20)}), ~0ull);
}

}  // namespace
}  // namespace fade::store
