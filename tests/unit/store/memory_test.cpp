// The ledger of memory: every kind of allocation, who holds it, what goes wrong with it; and copies by way, memory and
// size.
#include <gmock/gmock.h>

#include "store/copy_book.hpp"
#include "store/mapped_memory.hpp"
#include "store/store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

class Ledger : public Recording {
 protected:
  static constexpr const char* kStats =
      "SELECT kind, live_at_end, peak, allocs, frees, allocated FROM memory_stats ORDER BY kind";
  static constexpr const char* kTotals =
      "SELECT memory, live_at_end, peak, allocs, frees FROM memory_totals ORDER BY memory";

  // A call that gives its first parameter the value.
  CallId give(const std::string& symbol, std::uint64_t value, std::array<std::uint64_t, 6> words) {
    const CallRecord record = tracee->begin(symbol, words);
    tracee->piece(PieceKind::Out, 0, value);
    return tracee->put(record);
  }
  CallId refuse(const std::string& symbol, std::uint64_t address, std::uint64_t code = 1) {
    CallRecord record = tracee->begin(symbol, {address});
    record.result = code;
    record.flags |= kFailed;
    return tracee->put(record);
  }
  CallId run_out(std::uint64_t bytes) {
    CallRecord record = tracee->begin("hipMalloc", {0x7ffd1000, bytes});
    record.result = 2;
    record.flags |= kFailed;
    return tracee->put(record);
  }
  CallId told(std::uint64_t free, std::uint64_t total) {
    const CallRecord record = tracee->begin("hipMemGetInfo", {0x7ffd1000, 0x7ffd2000});
    tracee->piece(PieceKind::Out, 0, free);
    tracee->piece(PieceKind::Out, 1, total);
    return tracee->put(record);
  }
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t kind) {
    tracee->call("hipMemcpy", {to, from, bytes, kind});
  }
  void site(CallSiteId id, const std::string& library) {
    tracee->notice(CallSiteSeen{id, 1, 0x7f0000000000u + id, library, id, "f" + std::to_string(id)});
  }
  void malloc_from(CallSiteId caller, std::uint64_t address, std::uint64_t bytes, CallId parent = 0) {
    CallRecord record = tracee->begin("hipMalloc", {0x7ffd1000, bytes});
    record.caller = caller;
    record.parent = parent;
    tracee->piece(PieceKind::Out, 0, address);
    tracee->put(record);
  }
};

// ---------------------------------------------------------------- kinds

TEST_F(Ledger, EveryAllocatingFunctionHasItsKind) {
  open();
  struct Row {
    const char* symbol;
    const char* kind;
    std::array<std::uint64_t, 6> words;
  };
  const Row rows_of_functions[] = {
      {"hipMalloc", "device", {0, 100}},
      {"hipExtMallocWithFlags", "device", {0, 100}},
      {"hipMallocAsync", "device", {0, 100}},
      {"hipMallocFromPoolAsync", "device", {0, 100}},
      {"hipMallocManaged", "managed", {0, 100}},
      {"hipHostMalloc", "host", {0, 100}},
      {"hipHostAlloc", "host", {0, 100}},
      {"hipExtHostAlloc", "host", {0, 100}},
      {"hipMallocHost", "host", {0, 100}},
      {"hipMemAllocHost", "host", {0, 100}},
      {"hipMallocPitch", "device", {0, 0, 10, 10}},
      {"hipMemAllocPitch", "device", {0, 0, 10, 10}},
      {"hipMemCreate", "physical", {0, 100}},
      {"hipMemAddressReserve", "reserved", {0, 100}},
  };
  std::uint64_t address = 0x10000;
  for (const Row& row : rows_of_functions) give(row.symbol, address += 0x1000, row.words);
  finish();
  address = 0x10000;
  for (const Row& row : rows_of_functions)
    EXPECT_EQ(value("SELECT kind || size || name FROM allocations WHERE addr = " + std::to_string(address += 0x1000)),
              std::string(row.kind) + "100" + row.symbol);
}

TEST_F(Ledger, ArraysAreAsLargeAsTheirElements) {
  open();
  const std::array<std::int32_t, 5> two_floats{32, 32, 0, 0, 2};
  CallRecord record = tracee->begin("hipMallocArray", {0x7ffd1000, 0x7ffd2000, 64, 0});  // height 0: one line
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->piece(PieceKind::In, 1, two_floats);
  tracee->put(record);
  struct Descriptor {
    std::uint64_t width, height, depth;
    std::uint32_t format, channels, flags, padding;
  };
  record = tracee->begin("hipArray3DCreate", {0x7ffd1000, 0x7ffd2000});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x2000});
  tracee->piece(PieceKind::In, 1, Descriptor{8, 4, 2, 0x10, 2, 0, 0});  // halves
  tracee->put(record);
  record = tracee->begin("hipMipmappedArrayCreate", {0x7ffd1000, 0x7ffd2000, 3});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x3000});
  tracee->piece(PieceKind::In, 1, Descriptor{8, 8, 0, 0x20, 1, 0, 0});
  tracee->put(record);
  tracee->call("hipFreeArray", {0x1000});
  tracee->call("hipArrayDestroy", {0x2000});
  tracee->call("hipFreeMipmappedArray", {0x3000});
  finish();
  EXPECT_THAT(rows("SELECT size FROM allocations ORDER BY addr"),
              ElementsAre("512", "256", std::to_string(4 * (64 + 16 + 4))));
  EXPECT_THAT(rows(kStats), ElementsAre("array|0|1104|3|3|1104"));
}

TEST_F(Ledger, RegisteredMemoryIsPinnedAndNotADevices) {
  open();
  tracee->call("hipHostRegister", {0x500000, 4096, 0});
  EXPECT_EQ(writer->live().memory_bytes, 0u);
  tracee->call("hipHostUnregister", {0x500000});
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("registered|0|4096|1|1|4096"));
  EXPECT_THAT(rows(kTotals), ElementsAre("host|0|4096|1|1"));
}

TEST_F(Ledger, PhysicalMemoryLivesUntilReleasedAndUnmapped) {
  open();
  give("hipMemAddressReserve", 0xa000, {0, 0x2000});
  give("hipMemCreate", 0x77, {0, 0x1000});
  tracee->call("hipMemMap", {0xa000, 0x1000, 0, 0x77});
  tracee->call("hipMemRelease", {0x77});    // still mapped
  give("hipMemCreate", 0x77, {0, 0x1000});  // the same handle, another block
  tracee->call("hipMemMap", {0xb000, 0x1000, 0, 0x77});
  tracee->call("hipMemUnmap", {0xa000, 0x2000});  // both; the first is gone
  tracee->call("hipMemAddressFree", {0xa000, 0x2000});
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("physical|4096|8192|2|1|8192", "reserved|0|8192|1|1|8192"));
  EXPECT_THAT(rows(kTotals), ElementsAre("device|4096|8192|2|1"));
}

TEST_F(Ledger, RetainedHandlesAreReleasedOneByOne) {
  open();
  give("hipMemCreate", 0x77, {0, 64});
  tracee->call("hipMemMap", {0xa000, 64, 0, 0x77});
  give("hipMemRetainAllocationHandle", 0x77, {0, 0xa010});
  tracee->call("hipMemUnmap", {0xa000, 64});
  tracee->call("hipMemRelease", {0x77});
  EXPECT_EQ(value("SELECT count(*) FROM allocations WHERE \"end\" IS NOT NULL"), "0");
  const CallId last = tracee->call("hipMemRelease", {0x77});
  finish();
  EXPECT_EQ(value("SELECT free_call FROM allocations"), std::to_string(last));
}

TEST_F(Ledger, AnotherProcessMemoryIsNotCountedTwice) {
  open();
  tracee->malloc(0x1000, 10);
  give("hipIpcOpenMemHandle", 0x1000, {0});  // may be the same address
  tracee->call("hipIpcCloseMemHandle", {0x1000});
  finish();
  EXPECT_THAT(rows(kTotals), ElementsAre("device|10|10|1|0"));
  EXPECT_THAT(rows("SELECT kind, allocs, frees FROM memory_stats ORDER BY kind"),
              ElementsAre("device|1|0", "imported|1|1"));
}

TEST_F(Ledger, AResetTakesWhatIsOnTheDevice) {
  open();
  tracee->malloc(0x1000, 10);
  give("hipMemCreate", 0x77, {0, 64});
  give("hipHostMalloc", 0x9000, {0, 5});
  give("hipMallocManaged", 0x8000, {0, 3});
  tracee->call("hipDeviceReset");
  tracee->call("hipMemRelease", {0x77});
  finish();
  EXPECT_THAT(rows(kTotals), ElementsAre("device|0|77|3|3", "host|5|5|1|0"));
  EXPECT_EQ(value("SELECT sum(unknown_frees) FROM memory_stats"), "1");
}

TEST_F(Ledger, AsyncAllocationsAreOnTheirStreamsDevice) {
  open();
  tracee->call("hipSetDevice", {1});
  give("hipStreamCreate", 0x5000, {0});
  tracee->call("hipSetDevice", {0});
  give("hipMallocAsync", 0x1000, {0, 10, 0x5000});
  tracee->call("hipFreeAsync", {0x1000, 0x5000});
  finish();
  EXPECT_EQ(value("SELECT device, lifetime FROM allocations"), "1|10000");
}

// ---------------------------------------------------------------- calls inside calls, threads

TEST_F(Ledger, AnAllocationInsideAnotherIsTheSame) {
  open();
  site(1, "/lib/libamdhip64.so");
  site(2, "/app/a.out");
  CallRecord outer = tracee->begin("hipMallocHost", {0, 100});
  outer.caller = 2;
  CallRecord inner = tracee->begin("hipHostMalloc", {0, 100});
  inner.caller = 1;
  inner.parent = outer.id;
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->put(inner);
  outer.exit_ns = inner.exit_ns + 100;
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->put(outer);
  outer = tracee->begin("hipFreeHost", {0x1000});
  inner = tracee->begin("hipHostFree", {0x1000});
  tracee->put(inner);
  outer.exit_ns = inner.exit_ns + 100;
  tracee->put(outer);
  finish();
  EXPECT_THAT(rows("SELECT name, caller_library FROM allocations"), ElementsAre("hipMallocHost|/app/a.out"));
  EXPECT_THAT(rows(kStats), ElementsAre("host|0|100|1|1|100"));
  EXPECT_EQ(value("SELECT sum(unknown_frees) FROM memory_stats"), "0");
}

TEST_F(Ledger, WhatZludaAllocatesIsItsCallers) {
  open();
  site(1, "/zluda/libcuda.so.1");
  site(2, "/venv/libtorch_cuda.so");
  CallRecord outer = tracee->begin("cuMemAlloc_v2", {0, 100});
  outer.caller = 2;
  malloc_from(1, 0x1000, 100, outer.id);
  outer.exit_ns = tracee->now() + 2'000;
  tracee->put(outer);
  finish();
  EXPECT_THAT(rows("SELECT name, caller_library FROM allocations"), ElementsAre("hipMalloc|/venv/libtorch_cuda.so"));
  EXPECT_THAT(rows("SELECT library, live_at_end, peak, allocs FROM memory_libraries"),
              ElementsAre("/venv/libtorch_cuda.so|100|100|1"));
  EXPECT_THAT(rows(kTotals), ElementsAre("device|100|100|1|0"));
}

TEST_F(Ledger, AFreeThatIsSeenLateDoesNotTakeTheNextAllocation) {
  open();
  tracee->malloc(0x1000, 10);
  const CallRecord late = tracee->begin("hipFree", {0x1000});
  tracee->malloc(0x1000, 30);  // another thread got the address before the first one's return was seen
  CallRecord free = late;
  free.exit_ns = tracee->now() + 5'000;
  tracee->put(free);
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("device|30|30|2|1|40"));
  EXPECT_EQ(value("SELECT sum(unknown_frees) FROM memory_stats"), "0");
}

// A thread begins to allocate; another one gets an address and gives it back; the first one is given that address
// before the free's return is seen.
TEST_F(Ledger, AnAddressThatAnotherThreadHadMeanwhileIsAnotherAllocation) {
  open();
  const CallRecord slow = tracee->begin("hipMalloc", {0x7ffd1000, 30});
  tracee->malloc(0x1000, 10);
  const CallRecord late = tracee->begin("hipFree", {0x1000});
  CallRecord alloc = slow;
  alloc.exit_ns = tracee->now() + 5'000;
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->put(alloc);
  CallRecord free = late;
  free.exit_ns = tracee->now() + 6'000;
  tracee->put(free);
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("device|30|30|2|1|40"));
}

TEST_F(Ledger, LibrariesHaveTheirOwnPeaks) {
  open();
  site(1, "/a.so");
  site(2, "/b.so");
  malloc_from(1, 0x1000, 100);
  tracee->free(0x1000);
  malloc_from(2, 0x2000, 70);
  malloc_from(1, 0x3000, 20);
  malloc_from(0, 0x4000, 1);
  finish();
  EXPECT_THAT(
      rows("SELECT library, live_at_end, peak, allocs, frees, allocated FROM memory_libraries ORDER BY library"),
      ElementsAre("|1|1|1|0|1", "/a.so|20|100|2|1|120", "/b.so|70|70|1|0|70"));
  EXPECT_THAT(rows(kTotals), ElementsAre("device|91|100|4|1"));
}

// ---------------------------------------------------------------- trouble

TEST_F(Ledger, RefusedFreesAreToldApart) {
  open();
  tracee->malloc(0x1000, 0x100);
  tracee->malloc(0x2000, 0x100);
  const CallId freed = tracee->free(0x1000);
  refuse("hipFree", 0x1000);
  refuse("hipFree", 0x1000);
  refuse("hipFreeAsync", 0xbad000);
  refuse("hipHostFree", 0x2010);
  refuse("hipFree", 0);
  give("hipHostMalloc", 0x3000, {0, 0x100});
  const CallId pinned = tracee->call("hipHostFree", {0x3000});
  refuse("hipHostFree", 0x3000);
  refuse("hipFree", 0x1000, 4);  // the library is going down
  finish();
  EXPECT_THAT(rows("SELECT fault, name, addr_hex, repeats, first_free_call_id, size FROM bad_frees ORDER BY id"),
              ElementsAre("freed already|hipFree|0x1000|2|" + std::to_string(freed) + "|256",
                          "never allocated|hipFreeAsync|0xbad000|1||", "inside an allocation|hipHostFree|0x2010|1||",
                          "freed already|hipHostFree|0x3000|1|" + std::to_string(pinned) + "|256"));
  EXPECT_THAT(
      rows("SELECT finding, severity FROM findings ORDER BY 1"),
      ElementsAre("double-free|error", "double-free|error", "unknown-pointer|warning", "unknown-pointer|warning"));
}

TEST_F(Ledger, FaultsOfOneProgramAreBounded) {
  open();
  for (CallSiteId caller = 1; caller <= MemoryTrouble::kMostFaults + 50; ++caller) {
    site(caller, "/a.so");
    CallRecord record = tracee->begin("hipFree", {0xbad});
    record.result = 1;
    record.flags |= kFailed;
    record.caller = caller;
    tracee->put(record);
  }
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM bad_frees"), std::to_string(MemoryTrouble::kMostFaults));
}

TEST_F(Ledger, WhoHoldsTheMemoryWhenItIsOutIsStored) {
  open();
  site(1, "/a.so");
  malloc_from(1, 0x1000, 600);
  malloc_from(1, 0x2000, 200);
  give("hipMallocManaged", 0x3000, {0, 50});
  give("hipHostMalloc", 0x4000, {0, 7777});
  told(100, 1000);
  run_out(500);
  finish();
  EXPECT_THAT(rows("SELECT name, asked, used, free, total, elsewhere FROM ooms"),
              ElementsAre("hipMalloc|500|850|100|1000|50"));
  EXPECT_THAT(rows("SELECT name, caller_library, n, bytes, largest FROM oom_holders ORDER BY bytes DESC"),
              ElementsAre("hipMalloc|/a.so|2|800|600", "hipMallocManaged||1|50|50"));
  EXPECT_EQ(value("SELECT count(*) FROM findings WHERE finding = 'out-of-memory'"), "1");
}

TEST_F(Ledger, OutOfMemoryIsStoredOnceForCallsInsideCallsAndBounded) {
  open();
  site(1, "/app");
  for (int i = 0; i < MemoryTrouble::kMostOoms + 10; ++i) {
    CallRecord outer = tracee->begin("hipMalloc3D");
    outer.caller = 1;
    CallRecord inner = tracee->begin("hipMallocPitch", {0, 0, 100, 10});
    for (CallRecord* record : {&inner, &outer}) {
      record->result = 2;
      record->flags |= kFailed;
    }
    inner.parent = outer.id;
    tracee->put(inner);
    outer.exit_ns = inner.exit_ns + 10;
    tracee->put(outer);
  }
  finish();
  EXPECT_EQ(value("SELECT count(*), min(name), max(caller) FROM ooms"),
            std::to_string(MemoryTrouble::kMostOoms) + "|hipMalloc3D|f1");
}

TEST_F(Ledger, WhatIsSaidToBeFreeIsStoredBesideTheLedger) {
  open();
  tracee->malloc(0x1000, 300);
  for (std::uint64_t i = 0; i < 20'000; ++i) told(1000 - i % 3, 1500);
  told(999, 1500);
  finish();
  EXPECT_EQ(value("SELECT free, in_use, ledger, difference FROM memory_told ORDER BY start"), "1000|500|300|200");
  EXPECT_EQ(value("SELECT free FROM memory_told ORDER BY start DESC"), "999");
  EXPECT_EQ(value("SELECT count(*) BETWEEN 100 AND 4000 FROM memory_told"), "1");
}

TEST_F(Ledger, AllocationsWithAPitchTakePitchTimesHeight) {
  open();
  const CallRecord flat = tracee->begin("hipMallocPitch", {0x7ffd1000, 0x7ffd2000, 100, 10});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x10000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{256});
  tracee->put(flat);
  const CallRecord driver = tracee->begin("hipMemAllocPitch", {0x7ffd1000, 0x7ffd2000, 100, 20, 4});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x20000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{512});
  tracee->put(driver);
  const CallRecord deep = tracee->begin("hipMalloc3D", {0x7ffd1000});
  tracee->piece(PieceKind::Out, 0, std::array<std::uint64_t, 4>{0x30000, 128, 100, 7});
  tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 3>{100, 7, 3});
  tracee->put(deep);
  finish();
  EXPECT_THAT(rows("SELECT f.name, a.size FROM allocations a JOIN calls f ON f.id = a.alloc_call ORDER BY a.addr"),
              ElementsAre("hipMallocPitch|2560", "hipMemAllocPitch|10240", "hipMalloc3D|2688"));
}

// ---------------------------------------------------------------- copies

TEST_F(Ledger, CopiesKnowTheMemoryOfTheHostsSide) {
  open();
  tracee->malloc(0x100000, 0x1000);
  give("hipHostMalloc", 0x200000, {0, 0x1000});
  tracee->call("hipHostRegister", {0x300000, 0x1000, 0});
  give("hipMallocManaged", 0x400000, {0, 0x1000});
  copy(0x100000, 0x200800, 16, 1);
  copy(0x300010, 0x100000, 32, 2);
  copy(0x100000, 0x900000, 64, 1);
  copy(0x100000, 0x400000, 128, 1);
  copy(0x900000, 0x100800, 256, 4);  // default, told by the addresses
  copy(0x900000, 0x800000, 512, 4);  // not told
  copy(0x100000, 0x100800, 1024, 1024);
  tracee->call("hipHostUnregister", {0x300000});
  copy(0x300010, 0x100000, 32, 2);
  finish();
  EXPECT_THAT(rows("SELECT memory FROM copies ORDER BY id"),
              ElementsAre("pinned", "pinned", "pageable", "managed", "pageable", "", "", "pageable"));
  EXPECT_THAT(rows("SELECT direction, memory, n, bytes, smallest, largest FROM copy_sizes ORDER BY bytes, memory"),
              ElementsAre("h2d|pinned|1|16|16|31", "d2h|pageable|1|32|32|63", "d2h|pinned|1|32|32|63",
                          "h2d|pageable|1|64|64|127", "h2d|managed|1|128|128|255", "d2h|pageable|1|256|256|511",
                          "default||1|512|512|1023", "d2d||1|1024|1024|2047"));
}

// hip_Memcpy2D: 16 words. The library of the fixture is of version 6: hipMemoryTypeHost is 1, hipMemoryTypeDevice 2,
// hipMemoryTypeArray 10.
TEST_F(Ledger, CopiesOfABlockOfParametersHaveItsDirection) {
  open();
  give("hipHostMalloc", 0x200000, {0, 0x1000});
  tracee->malloc(0x100000, 0x1000);
  const auto copy_2d = [&](std::uint64_t from, std::uint64_t to, std::uint64_t width) {
    const std::array<std::uint64_t, 16> block{0, 0,  from,     0x200000, 0x100000, 0xa, 64,    0,
                                              0, to, 0x900000, 0x100800, 0xb,      64,  width, 2};
    const CallRecord record = tracee->begin("hipMemcpyParam2D", {0x7ffd1000});
    tracee->piece(PieceKind::In, 0, block);
    tracee->put(record);
  };
  copy_2d(1, 2, 8);     // pinned to device
  copy_2d(2, 1, 16);    // device to pageable
  copy_2d(2, 10, 32);   // device to array
  copy_2d(1, 0, 64);    // pinned to pageable
  copy_2d(11, 1, 128);  // unified: the address tells
  std::array<std::uint64_t, 23> block{};
  block[4] = 1, block[5] = 0x200000, block[14] = 2, block[16] = 0x100000, block[20] = 4, block[21] = 8, block[22] = 16;
  const CallRecord drv = tracee->begin("hipDrvMemcpy3D", {0x7ffd1000});
  tracee->piece(PieceKind::In, 0, block);
  tracee->put(drv);
  std::array<std::uint64_t, 20> parms{};
  parms[4] = 0x900000, parms[8] = 0xa, parms[16] = 1024, parms[17] = 2, parms[18] = 1, parms[19] = 1;
  const CallRecord runtime = tracee->begin("hipMemcpy3D", {0x7ffd1000});
  tracee->piece(PieceKind::In, 0, parms);
  tracee->put(runtime);
  finish();
  EXPECT_THAT(rows("SELECT name, direction, memory, n, bytes FROM copy_sizes ORDER BY bytes"),
              ElementsAre("hipMemcpyParam2D|h2d|pinned|1|16", "hipMemcpyParam2D|d2h|pageable|1|32",
                          "hipMemcpyParam2D|d2d||1|64", "hipMemcpyParam2D|h2h|pageable|1|128",
                          "hipMemcpyParam2D|d2h|pageable|1|256", "hipDrvMemcpy3D|h2d|pinned|1|512",
                          "hipMemcpy3D|h2d|pageable|1|2048"));
  EXPECT_EQ(value("SELECT src_hex, dst_hex FROM copies WHERE size = 64"), "0x100000|0xb");
  EXPECT_EQ(value("SELECT direction FROM copies WHERE size = 256"), "d2h");  // a row says what the sums say
  EXPECT_EQ(value("SELECT direction FROM copy_stats WHERE max_bytes = 256"), "d2h");
}

TEST_F(Ledger, ACopyInsideACopyIsCountedOnce) {
  open();
  const CallRecord outer = tracee->begin("hipMemcpyWithStream", {0x1000, 0x2000, 64, 1, 0});
  CallRecord inner = tracee->begin("hipMemcpyAsync", {0x1000, 0x2000, 64, 1, 0});
  inner.parent = outer.id;
  tracee->put(inner);
  tracee->put(outer);
  finish();
  EXPECT_EQ(value("SELECT sum(n), sum(bytes) FROM copy_sizes"), "1|64");
}

constexpr const char* kPingPong = "SELECT count(*) FROM findings WHERE finding = 'copy-ping-pong'";

TEST_F(Ledger, ABufferThatGoesBackAndForthIsFound) {
  open();
  for (int i = 0; i <= 120; ++i) {
    copy(0x100000, 0x200000, 65536, 1);
    tracee->launch(0x5000);
    copy(0x200000, 0x100000, 65536, 2);
  }
  finish();
  EXPECT_EQ(value("SELECT size, trips, launches FROM copy_trips"), "65536|120|120");
  EXPECT_EQ(value(kPingPong), "1");
}

TEST_F(Ledger, ABufferThatGoesBackAndForthIsFoundAmongManyOthers) {
  open();
  std::uint64_t other = 0x10000000;
  for (int i = 0; i <= 150; ++i) {
    copy(0x100000, 0x200000, 65536, 1);
    copy(0x200000, 0x100000, 65536, 2);
    for (int k = 0; k < 100; ++k) copy(other += 4096, 0x300000, 4096, 1);  // far more than there are places to remember
  }
  finish();
  EXPECT_EQ(value(kPingPong), "1");
}

TEST_F(Ledger, HealthyProgramsAreNotAccused) {
  open();
  tracee->notice(KernelNamed{1, 0x5000, "step", ""});
  for (int i = 0; i <= 120; ++i) {
    copy(0x100000, 0x200000, 65536, 1);  // input and output are not the same buffer
    tracee->launch(0x5000);
    copy(0x300000, 0x400000, 65536, 2);
    copy(0x500000, 0x600000, 65536, 1);  // much is done with it
    for (int k = 0; k < 8; ++k) tracee->launch(0x5000);
    copy(0x600000, 0x500000, 65536, 2);
    copy(0x700000, 0x800000, 4, 1);  // a number
    copy(0x800000, 0x700000, 4, 2);
    copy(0x900000, 0xa00000 + static_cast<std::uint64_t>(i) * 65536, 65536, 1);  // other data each time
    copy(0xa00000 + static_cast<std::uint64_t>(i) * 65536, 0x900000, 65536, 2);
  }
  finish();
  EXPECT_THAT(rows("SELECT finding FROM findings"), ElementsAre());
}

TEST_F(Ledger, ManySmallCopiesAreAStormUnlessMoreIsLaunched) {
  open();
  for (int i = 0; i < 10'000; ++i) copy(0x100000 + static_cast<std::uint64_t>(i) * 4, 0x200000, 4, 1);
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  for (int i = 0; i < 10'000; ++i) {
    tracee->call("hipMemcpy", {0x200000, 0x100000, 4, 2}, 2);
    tracee->launch(0x5000, 1, 64, 2);
  }
  finish();
  EXPECT_THAT(rows("SELECT pid FROM findings WHERE finding = 'small-copies'"), ElementsAre("100"));
}

// ---------------------------------------------------------------- parts

TEST(MappedMemories, KnowWhatIsWhere) {
  MappedMemory memory;
  const auto block = memory.create(7);
  memory.map(0x1000, 0x100, 7);
  EXPECT_EQ(memory.block_at(0x10ff), block);
  EXPECT_FALSE(memory.block_at(0x1100));
  EXPECT_FALSE(memory.release(8).known);
  EXPECT_TRUE(memory.release(7).known);
  EXPECT_FALSE(memory.release(7).known);
  EXPECT_THAT(memory.unmap(0x2000, 0x100), ElementsAre());
  EXPECT_THAT(memory.unmap(0x1000, 0x100), ElementsAre(block));
  EXPECT_FALSE(memory.block_at(0x1000));
}

TEST(FreedMemories, AreForgottenInTheEnd) {
  FreedMemory freed;
  EXPECT_EQ(freed.find(1, Space::Memory, 0), nullptr);
  constexpr std::uint64_t kAll = 8 * FreedMemory::kMost;
  for (std::uint64_t i = 0; i < kAll; ++i) freed.add(1, Space::Memory, i << 12, {static_cast<std::int64_t>(i), 1});
  std::size_t known = 0;
  for (std::uint64_t i = 0; i < kAll; ++i) known += freed.find(1, Space::Memory, i << 12) != nullptr;
  EXPECT_GT(known, FreedMemory::kMost / 2);
  EXPECT_LE(known, FreedMemory::kMost);
  ASSERT_NE(freed.find(1, Space::Memory, (kAll - 1) << 12), nullptr);
  EXPECT_EQ(freed.find(1, Space::Memory, (kAll - 1) << 12)->alloc, static_cast<std::int64_t>(kAll - 1));
  EXPECT_EQ(freed.find(1, Space::Array, (kAll - 1) << 12), nullptr);
  EXPECT_EQ(freed.find(2, Space::Memory, (kAll - 1) << 12), nullptr);
}

TEST(Ways, OfDefaultCopiesAreKnownByOneSide) {
  EXPECT_EQ(way_of(4, Place::Unknown, Place::Device).kind, 1);
  EXPECT_EQ(way_of(4, Place::Device, Place::Pinned).kind, 2);
  EXPECT_EQ(way_of(4, Place::Device, Place::Device).kind, 3);
  EXPECT_EQ(way_of(4, Place::Pinned, Place::Pinned).kind, 0);
  EXPECT_EQ(way_of(4, Place::Pinned, Place::Unknown).kind, 4) << "may be a device's, allocated before fade came";
  EXPECT_EQ(way_of(4, Place::Managed, Place::Device).kind, 4);
}

}  // namespace
}  // namespace fade::store
