// What processes use of a GPU by their open files of the DRM driver: a row for each change.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSampleNs = 1'000'000'000;

class SensorRows : public Recording {
 protected:
  void second(std::int64_t number, std::vector<GpuClient> clients) {
    GpuSample sample{.at = number * kSampleNs, .duration = kSampleNs, .node = 1, .looks = 10};
    sample.clients = std::move(clients);
    tracee->notice(std::move(sample));
  }
  static GpuClient client(std::int64_t vram, std::int64_t gfx_ns = 0) {
    return {.pid = 100, .is_there = true, .vram = vram, .host = 8, .engine_ns = {gfx_ns, 2, 3, 4}};
  }
  static GpuClient idle(std::int64_t vram) { return {.pid = 100, .is_there = true, .vram = vram, .host = 8}; }
};

TEST_F(SensorRows, AreChangesOfClients) {
  open();
  second(1, {idle(4096)});
  second(2, {idle(4096)});
  second(3, {client(4096, 500)});
  second(4, {client(4096, 500)});
  second(5, {idle(8192)});
  second(6, {});
  second(7, {});
  finish();
  EXPECT_THAT(
      rows("SELECT start / 1000000000, pid, memory, host_memory, graphics_ns, compute_ns, copy_ns, other_ns FROM "
           "gpu_clients ORDER BY start"),
      ElementsAre("1|100|4096|8|0|0|0|0", "3|100|4096|8|500|2|3|4", "4|100|4096|8|500|2|3|4", "5|100|8192|8|0|0|0|0",
                  "6|100|0|0|0|0|0|0"));
}

}  // namespace
}  // namespace fade::store
