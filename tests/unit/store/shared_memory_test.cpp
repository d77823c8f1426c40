// Memory of other processes and from outside of HIP: whose it is, how large, and that it counts once.
#include "store/shared_handles.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "store/store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SharedMemory : public Recording {
 protected:
  static constexpr const char* kStats =
      "SELECT pid, kind, live_at_end, peak, allocs, frees FROM memory_stats ORDER BY pid, kind";
  using Handle = std::array<std::uint64_t, 8>;

  void SetUp() override {
    open();
    tracee->process(2, 200);
    tracee->thread(2, 2, 200);
  }
  void offer(const Handle& handle, std::uint64_t address, ThreadId thread = 1) {
    const CallRecord record = tracee->begin("hipIpcGetMemHandle", {0x7ffd1000, address}, thread);
    tracee->piece(PieceKind::Out, 0, handle);
    tracee->put(record);
  }
  void open_handle(const Handle& handle, std::uint64_t address, ThreadId thread = 2) {
    const CallRecord record = tracee->begin("hipIpcOpenMemHandle", {0x7ffd1000, 1}, thread);
    tracee->piece(PieceKind::Stack, 0, handle);
    tracee->piece(PieceKind::Out, 0, address);
    tracee->put(record);
  }
  void close(std::uint64_t address) { tracee->call("hipIpcCloseMemHandle", {address}, 2); }
};

TEST_F(SharedMemory, IsAsLargeAsWhatWasOfferedAndCountsThere) {
  tracee->malloc(0x1000, 100);
  offer({1, 2, 3}, 0x1000);
  open_handle({1, 2, 3}, 0xf000);
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("100|device|100|100|1|0", "200|imported|100|100|1|0"));
  EXPECT_THAT(rows("SELECT pid, allocs FROM memory_totals"), ElementsAre("100|1"));
  EXPECT_THAT(rows("SELECT pid, size, owner, owner_addr FROM allocations ORDER BY pid"),
              ElementsAre("100|100||", "200|100|100|0x1000"));
}

TEST_F(SharedMemory, IsTheWholeAllocationWhicheverPartWasOffered) {
  tracee->malloc(0x1000, 100);
  offer({7}, 0x1010);
  tracee->free(0x1000);
  open_handle({7}, 0xf000);  // too late, but the bytes are what they were
  finish();
  EXPECT_THAT(rows("SELECT size, owner_addr FROM allocations WHERE kind = 'imported'"), ElementsAre("100|0x1000"));
}

TEST_F(SharedMemory, OfNobodyWhoWasSeenIsOfUnknownSize) {
  open_handle({9}, 0xf000);
  close(0xf000);
  offer({10}, 0x5000);  // by a process of this recording, which had it before
  open_handle({10}, 0xe000);
  finish();
  EXPECT_THAT(rows("SELECT size IS NULL, owner, owner_addr FROM allocations ORDER BY start"),
              ElementsAre("1||", "1|100|0x5000"));
  EXPECT_THAT(rows(kStats), ElementsAre("200|imported|0|0|2|1"));
}

TEST_F(SharedMemory, IsMeasuredWhenTheRuntimeIsAsked) {
  open_handle({9}, 0xf000);
  const CallRecord record = tracee->begin("hipMemGetAddressRange", {0x7ffd1000, 0x7ffd2000, 0xf010}, 2);
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0xf000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{4096});
  tracee->put(record);
  open_handle({11}, 0xe000);
  const CallRecord other = tracee->begin("hipMemPtrGetInfo", {0xe000, 0x7ffd2000}, 2);
  tracee->piece(PieceKind::Out, 1, std::uint64_t{100});
  tracee->put(other);
  tracee->malloc(0x1000, 50, 2);  // asked about memory of its own, which is known
  const CallRecord own = tracee->begin("hipMemPtrGetInfo", {0x1000, 0x7ffd2000}, 2);
  tracee->piece(PieceKind::Out, 1, std::uint64_t{64});
  tracee->put(own);
  close(0xf000);
  finish();
  EXPECT_THAT(rows(kStats), ElementsAre("200|device|50|50|1|0", "200|imported|100|4196|2|1"));
  EXPECT_THAT(rows("SELECT size FROM allocations ORDER BY start"), ElementsAre("4096", "100", "50"));
}

TEST_F(SharedMemory, ThatIsOpenedTwiceIsClosedTwice) {
  tracee->malloc(0x1000, 100);
  offer({1}, 0x1000);
  open_handle({1}, 0xf000);
  open_handle({1}, 0xf000);
  close(0xf000);
  close(0xf000);
  close(0xf000);  // once too often
  finish();
  EXPECT_THAT(rows("SELECT live_at_end, peak, allocs, frees FROM memory_stats WHERE kind = 'imported'"),
              ElementsAre("0|100|1|1"));
  EXPECT_EQ(value("SELECT sum(unknown_frees) FROM memory_stats"), "1");
}

TEST_F(SharedMemory, OfAHandleThatIsMadeAgainIsTheNewOne) {
  tracee->malloc(0x1000, 100);
  offer({1}, 0x1000);
  tracee->malloc(0x2000, 300);
  offer({1}, 0x2000);
  open_handle({1}, 0xf000);
  finish();
  EXPECT_EQ(value("SELECT size FROM allocations WHERE kind = 'imported'"), "300");
}

TEST_F(SharedMemory, ThroughPoolsIsFreedAsOwn) {
  const std::array<std::uint64_t, 8> data{4, 5, 6};
  tracee->malloc(0x1000, 100);
  CallRecord record = tracee->begin("hipMemPoolExportPointer", {0x7ffd1000, 0x1000});
  tracee->piece(PieceKind::Out, 0, data);
  tracee->put(record);
  record = tracee->begin("hipMemPoolImportPointer", {0x7ffd1000, 0x77, 0x7ffd2000}, 2);
  tracee->piece(PieceKind::In, 2, data);
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0xf000});
  tracee->put(record);
  tracee->call("hipFreeAsync", {0xf000, 0}, 2);
  finish();
  EXPECT_THAT(rows("SELECT live_at_end, peak, allocs, frees, unknown_frees FROM memory_stats WHERE kind = 'imported'"),
              ElementsAre("0|100|1|1|0"));
}

TEST_F(SharedMemory, OfAHandleThatCouldNotBeReadIsOfUnknownSize) {
  tracee->malloc(0x1000, 100);
  offer({0}, 0x1000);
  const CallRecord record = tracee->begin("hipIpcOpenMemHandle", {0x7ffd1000, 1}, 2);  // its stack could not
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0xf000});
  tracee->put(record);
  finish();
  EXPECT_EQ(value("SELECT size IS NULL AND owner IS NULL FROM allocations WHERE kind = 'imported'"), "1");
}

TEST_F(SharedMemory, FromOutsideIsCountedOnceHoweverItIsMapped) {
  struct {
    std::int32_t type, padding;
    std::uint64_t handle[2], size;
    std::uint32_t flags;
  } const desc{1, 0, {3, 0}, 1000, 0};
  const std::array<std::uint64_t, 3> half{0, 500, 0};
  CallRecord record = tracee->begin("hipImportExternalMemory", {0x7ffd1000, 0x7ffd2000});
  tracee->piece(PieceKind::In, 1, desc);
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0xee00});
  tracee->put(record);
  record = tracee->begin("hipExternalMemoryGetMappedBuffer", {0x7ffd1000, 0xee00, 0x7ffd2000});
  tracee->piece(PieceKind::In, 2, half);
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x1000});
  tracee->put(record);
  record = tracee->begin("hipExternalMemoryGetMappedMipmappedArray", {0x7ffd1000, 0xee00, 0x7ffd2000});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x2000});
  tracee->put(record);
  tracee->free(0x1000);
  tracee->call("hipFreeMipmappedArray", {0x2000});
  tracee->call("hipDestroyExternalMemory", {0xee00});
  finish();
  EXPECT_THAT(rows("SELECT kind, live_at_end, peak, allocs, frees, unknown_frees FROM memory_stats ORDER BY kind"),
              ElementsAre("imported|0|1000|1|1|0", "mapped|0|500|2|2|0"));
  EXPECT_THAT(rows("SELECT * FROM memory_totals"), IsEmpty());
}

TEST(SharedHandles, ForgetTheOldest) {
  SharedHandles handles;
  SharedHandles::Handle handle{};
  for (std::size_t i = 0; i <= SharedHandles::kMost; ++i) {
    std::memcpy(handle.data(), &i, sizeof i);
    handles.add(handle, {{1, i}, i});
  }
  EXPECT_EQ(handles.find(handle)->bytes, SharedHandles::kMost);
  handle = {};
  EXPECT_EQ(handles.find(handle), nullptr);
}

}  // namespace
}  // namespace fade::store
