// Copies by way, memory and size.
#include <gmock/gmock.h>

#include "ledger_fixture.hpp"
#include "store/copy_book.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

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
