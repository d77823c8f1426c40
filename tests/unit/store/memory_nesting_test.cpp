// The ledger of memory: calls inside calls, on several threads, and of several libraries.
#include <gmock/gmock.h>

#include "ledger_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace fade::store
