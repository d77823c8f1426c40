// The ledger of memory: every kind of allocation, its holders, and failures.
#include <gmock/gmock.h>

#include "ledger_fixture.hpp"
#include "store/freed_memory.hpp"
#include "store/mapped_memory.hpp"
#include "store/memory_trouble.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

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
  EXPECT_EQ(value("SELECT free_call FROM allocations"), std::to_string(last.value()));
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
              ElementsAre("freed already|hipFree|0x1000|2|" + std::to_string(freed.value()) + "|256",
                          "never allocated|hipFreeAsync|0xbad000|1||", "inside an allocation|hipHostFree|0x2010|1||",
                          "freed already|hipHostFree|0x3000|1|" + std::to_string(pinned.value()) + "|256"));
  EXPECT_THAT(
      rows("SELECT finding, severity FROM findings ORDER BY 1"),
      ElementsAre("double-free|error", "double-free|error", "unknown-pointer|warning", "unknown-pointer|warning"));
}

TEST_F(Ledger, FaultsOfOneProgramAreBounded) {
  open();
  for (CallSiteId caller = 1; caller.value() <= MemoryTrouble::kMostFaults + 50; ++caller) {
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
  for (std::uint64_t i = 0; i < kAll; ++i)
    freed.add(1, Space::Memory, i << 12, {AllocRow::of(static_cast<std::int64_t>(i)), 1});
  std::size_t known = 0;
  for (std::uint64_t i = 0; i < kAll; ++i) known += freed.find(1, Space::Memory, i << 12) != nullptr;
  EXPECT_GT(known, FreedMemory::kMost / 2);
  EXPECT_LE(known, FreedMemory::kMost);
  ASSERT_NE(freed.find(1, Space::Memory, (kAll - 1) << 12), nullptr);
  EXPECT_EQ(freed.find(1, Space::Memory, (kAll - 1) << 12)->alloc.value(), static_cast<std::int64_t>(kAll - 1));
  EXPECT_EQ(freed.find(1, Space::Array, (kAll - 1) << 12), nullptr);
  EXPECT_EQ(freed.find(2, Space::Memory, (kAll - 1) << 12), nullptr);
}

}  // namespace
}  // namespace fade::store
