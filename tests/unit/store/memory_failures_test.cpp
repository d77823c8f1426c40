// The ledger of memory: refused frees, the holders when memory is out, and what is said to be free.
#include <gmock/gmock.h>

#include "ledger_fixture.hpp"
#include "store/memory_trouble.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace fade::store
