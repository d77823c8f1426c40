// Times of the GPU find the call that put their work to run: by the signal of the packet, and by time where a signal is
// used again. What finds no call is kept.
#include <limits>

#include "probes/hsa_calls.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kQueue = 0x1000, kSignal = 0x77, kObject = 0x5000;
constexpr const char* kIndex = "hsa_queue_add_write_index_screlease";

class GpuWorkRows : public Recording {
 protected:
  struct Packet {
    std::uint64_t signal = kSignal, object = kObject;
    std::uint8_t type = probes::hsa::kKernelPacket;
  };

  void start() {
    open();
    boot = std::stoll(value("SELECT boot_ns FROM session_"));
  }
  CallRecord inside(CallRecord record, CallId outer) const {
    record.parent = outer;
    return record;
  }
  // A launch whose packet is `packet`; the launch ends after it.
  CallId launch(const Packet& packet, ThreadId thread = 1) {
    CallRecord outer = tracee->begin("hipLaunchKernel", {0xabc, 1ull << 32 | 4, 1, 1ull << 32 | 64, 1, 0}, thread);
    put_packet(packet, outer.id, thread);
    outer.exit_ns = tracee->now() + 2'000;
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{0, 0xabc0});
    return tracee->put(outer);
  }
  void put_packet(const Packet& packet, CallId outer, ThreadId thread = 1) {
    std::array<std::uint64_t, 8> words{packet.type, 0, 0, 0, packet.object, 0, 0, packet.signal};
    const CallRecord record = inside(tracee->begin(kIndex, {kQueue, 1}, thread), outer);
    tracee->piece(PieceKind::Out, probes::hsa::kQueue, words);
    tracee->put(record);
  }
  void told(std::int64_t start, std::int64_t end, std::uint64_t signal = kSignal) {
    const CallRecord record = tracee->begin("hsa_amd_profiling_get_dispatch_time", {1, signal, 0x7ffd0000}, 1);
    tracee->piece(PieceKind::Out, probes::hsa::kKernelTimes, std::array<std::int64_t, 2>{start + boot, end + boot});
    tracee->put(record);
  }
  std::vector<std::string> works() const {
    return rows("SELECT kind, call, start, duration FROM gpu_work ORDER BY id");
  }
  std::string coverage() const {
    return value("SELECT seen, timed, untimed, unread, untied, untold, uncalled FROM gpu_coverage");
  }

  std::int64_t boot = 0;
};

TEST_F(GpuWorkRows, HaveTheCallOfTheirPacket) {
  start();
  launch({});                // call 1, packet 2
  told(25'000, 29'000);      // call 3
  launch({.signal = 0x78});  // call 4
  told(55'000, 56'000, 0x78);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel|1|25000|4000", "kernel|4|55000|1000"));
  EXPECT_EQ(coverage(), "2|2|0|0|0|0|0");
  EXPECT_THAT(rows("SELECT name, device, stream FROM gpu_work WHERE id = 1"), ElementsAre("0xabc|0|43968"));
}

TEST_F(GpuWorkRows, BelongToTheNewestPacketOfTheirSignal) {
  start();
  launch({.object = 0, .type = probes::hsa::kBarrierAnd});  // nobody asks for it
  launch({});                                               // call 3
  told(45'000, 46'000);
  launch({});
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel|3|45000|1000"));
  EXPECT_EQ(coverage(), "2|1|1|0|0|0|0");
}

TEST_F(GpuWorkRows, MayBeToldBeforeTheirPacketIsSeen) {
  start();
  const CallRecord outer = tracee->begin("hipMemset", {0x10, 0, 64});  // 10000
  const CallRecord index = inside(tracee->begin(kIndex, {kQueue, 1}), outer.id);
  told(25'000, 26'000);
  std::array<std::uint64_t, 8> words{probes::hsa::kKernelPacket, 0, 0, 0, kObject, 0, 0, kSignal};
  tracee->piece(PieceKind::Out, probes::hsa::kQueue, words);
  tracee->put(index);
  tracee->put(outer);
  finish();
  EXPECT_THAT(works(), ElementsAre("fill|1|25000|1000"));
  EXPECT_EQ(value("SELECT bytes FROM gpu_work"), "64");
}

TEST_F(GpuWorkRows, CountOnceThoughTheRuntimeAsksTwice) {
  start();
  launch({});
  told(25'000, 26'000);
  told(25'000, 26'000);
  finish();
  EXPECT_EQ(coverage(), "1|1|0|0|0|0|0");
}

TEST_F(GpuWorkRows, AreKeptWithoutACall) {
  start();
  told(5'000, 6'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel||5000|1000"));
  EXPECT_EQ(coverage(), "0|0|0|0|1|0|0");
}

TEST_F(GpuWorkRows, CountWhereAThreadOfTheRuntimePutsThemToRun) {
  start();
  put_packet({}, 0);
  told(25'000, 29'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel||25000|4000"));
  EXPECT_EQ(coverage(), "1|1|0|0|0|0|1");
}

TEST_F(GpuWorkRows, AreNotMadeOfWhatIsNoTime) {
  start();
  launch({});
  told(-boot, -boot);                    // 0 and 0
  told(25'000, 24'000);                  // ends before it begins
  told(90'000'000'000, 90'000'000'001);  // after it was asked for
  finish();
  EXPECT_THAT(works(), IsEmpty());
  EXPECT_EQ(coverage(), "1|0|1|0|0|3|0");
}

TEST_F(GpuWorkRows, HaveNoTimeOfAPacketThatCouldNotBeRead) {
  start();
  launch({.object = 0, .type = probes::hsa::kBarrierAnd});  // nobody asks for it
  tracee->call(kIndex, {kQueue, 1});                        // with the same signal
  told(tracee->now(), tracee->now() + 1'000);
  finish();
  EXPECT_EQ(value("SELECT kind, call IS NULL FROM gpu_work"), "kernel|1");
  EXPECT_EQ(coverage(), "0|0|0|1|1|0|0");
}

TEST_F(GpuWorkRows, CountOnceThoughTheRuntimeAsksTwiceForAPacketThatCouldNotBeRead) {
  start();
  tracee->call(kIndex, {kQueue, 1});
  told(15'000, 16'000);
  told(15'000, 16'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel||15000|1000"));
  EXPECT_EQ(coverage(), "0|0|0|1|1|0|0");
  EXPECT_EQ(value("SELECT sum(n) FROM gpu_stats"), "1");
}

TEST_F(GpuWorkRows, OfUnknownWorkAreWrittenWhenTheirSignalIsUsedAgain) {
  start();
  told(5'000, 6'000);
  told(15'000, 16'000);
  launch({});  // call 3
  told(45'000, 46'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel||5000|1000", "kernel||15000|1000", "kernel|3|45000|1000"));
  EXPECT_EQ(coverage(), "1|1|0|0|2|0|0");
}

TEST_F(GpuWorkRows, HaveNoTimeOfLaterWorkIfTheirOwnIsGivenUp) {
  start();
  const CallRecord index = tracee->begin(kIndex, {kQueue, 1});  // its packet is read late
  told(15'000, 16'000);
  told(25'000, 26'000);
  const std::array<std::uint64_t, 8> words{probes::hsa::kKernelPacket, 0, 0, 0, kObject, 0, 0, kSignal};
  tracee->piece(PieceKind::Out, probes::hsa::kQueue, words);
  tracee->put(index);
  finish();
  EXPECT_EQ(coverage(), "1|0|1|0|2|0|1");
}

// Both packets have the same signal.
TEST_F(GpuWorkRows, HaveNoTimeOfALaterKernelThatCouldNotBeRead) {
  start();
  launch({});                         // nobody asks for it
  tracee->call(kIndex, {kQueue, 1});  // 30000
  told(45'000, 46'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel||45000|1000"));
  EXPECT_EQ(coverage(), "1|0|1|1|1|0|0");
}

TEST_F(GpuWorkRows, HaveTheirTimeIfItIsEarlierThanAPacketThatCouldNotBeRead) {
  start();
  launch({});
  tracee->call(kIndex, {kQueue, 1});  // 30000
  told(25'000, 26'000);
  finish();
  EXPECT_THAT(works(), ElementsAre("kernel|1|25000|1000"));
}

TEST_F(GpuWorkRows, ACallForNoPlacesLeavesNothingUnread) {
  start();
  launch({.object = 0, .type = probes::hsa::kBarrierAnd});
  tracee->call(kIndex, {kQueue, 0});
  told(45'000, 46'000);
  finish();
  EXPECT_EQ(value("SELECT kind FROM gpu_work"), "barrier");
}

TEST_F(GpuWorkRows, CountPacketsThatCouldNotBeRead) {
  start();
  tracee->call(kIndex, {kQueue, 1});
  finish();
  EXPECT_EQ(coverage(), "0|0|0|1|0|0|0");
}

TEST_F(GpuWorkRows, HaveTheNameOfTheSymbolThatGaveTheirObject) {
  start();
  const CallRecord symbol = tracee->begin("hsa_executable_get_symbol_by_name", {1, 0x2000, 0x3000, 0x4000});
  tracee->text(PieceKind::String, 1, "_Z5scalePf.kd");
  tracee->piece(PieceKind::Out, 3, std::uint64_t{9});
  tracee->put(symbol);
  const CallRecord info = tracee->begin("hsa_executable_symbol_get_info", {9, probes::hsa::kKernelObject, 0x4000});
  tracee->piece(PieceKind::Out, 2, kObject);
  tracee->put(info);
  launch({});
  told(45'000, 46'000);
  finish();
  EXPECT_EQ(value("SELECT name, mangled FROM gpu_work"), "scale(float*)|_Z5scalePf");
  EXPECT_EQ(value("SELECT name, mangled FROM kernel_stats"), "scale(float*)|_Z5scalePf");
}

TEST_F(GpuWorkRows, CountTimeInTheUnitOfTheRuntimesClock) {
  start();
  const CallRecord frequency = tracee->begin("hsa_system_get_info", {3, 0x4000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{100'000'000});
  tracee->put(frequency);
  launch({});
  const CallRecord asked = tracee->begin("hsa_amd_profiling_get_dispatch_time", {1, kSignal, 0x7ffd0000});
  const std::int64_t start = (boot + 35'000) / 10;
  tracee->piece(PieceKind::Out, 2, std::array<std::int64_t, 2>{start, start + 100});
  tracee->put(asked);
  finish();
  EXPECT_EQ(value("SELECT duration, abs(start - 35000) < 10 FROM gpu_work"), "1000|1");
}

// The program tells the frequency and the sizes.
TEST_F(GpuWorkRows, AreNotMadeOfTimesThatNoClockHas) {
  start();
  const CallRecord frequency = tracee->begin("hsa_system_get_info", {3, 0x4000});
  tracee->piece(PieceKind::Out, 1, std::uint64_t{1});
  tracee->put(frequency);
  launch({});
  told(35'000, 36'000);
  told(35'000, std::numeric_limits<std::int64_t>::max() - boot);
  finish();
  EXPECT_THAT(works(), IsEmpty());
  EXPECT_EQ(coverage(), "1|0|1|0|0|2|0");
}

TEST_F(GpuWorkRows, HaveNoMoreBytesThanAMemory) {
  start();
  for (int i = 0; i < 3; ++i) {
    const CallRecord outer = tracee->begin("hipMemset", {0x10, 0, std::numeric_limits<std::uint64_t>::max()});
    put_packet({}, outer.id);
    tracee->put(outer);
    const std::int64_t now = tracee->now();
    told(now - 2'000, now - 1'000);
  }
  finish();
  EXPECT_EQ(value("SELECT n, bytes FROM gpu_stats"), "3|" + std::to_string(3 * (std::int64_t{1} << 42)));
}

}  // namespace
}  // namespace fade::store
