// The ledger of memory: every kind of allocation; the maps that it is made of.
#include <gmock/gmock.h>

#include "ledger_fixture.hpp"
#include "store/freed_memory.hpp"
#include "store/mapped_memory.hpp"

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
