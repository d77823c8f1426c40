// Trees of files as Linux' amdgpu driver shows them.
#include "sensors/gpu_sensors.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "sensors/sensor_watch.hpp"

namespace fade {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
constexpr std::int64_t kMs = 1'000'000;

class SensorTree : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  void device(const std::string& name, const std::string& content) const {
    write("bus/pci/devices/0000:0a:00.0/" + name, content);
  }
  void process(int pid, const std::string& bytes) const {
    write("class/kfd/kfd/proc/" + std::to_string(pid) + "/vram_77", bytes);
  }
  GpuSensors sensors() const { return GpuSensors(root_.string(), "0000:0a:00.0", 77, 1); }
  std::optional<std::int64_t> value(Sensor sensor) const {
    return sensors().read().values[static_cast<std::size_t>(sensor)];
  }

  const std::filesystem::path root_ = [] {
    std::string name = testing::TempDir() + "fade-sensors-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
};

TEST_F(SensorTree, EachFileIsReadInItsUnit) {
  device("gpu_busy_percent", "37\n");
  device("mem_busy_percent", "12\n");
  device("mem_info_vram_used", "1073741824\n");
  device("mem_info_gtt_used", "4096\n");
  device("hwmon/hwmon3/power1_average", "251000000\n");
  device("hwmon/hwmon3/temp1_input", "64000\n");
  device("hwmon/hwmon3/freq1_input", "2300000000\n");
  device("hwmon/hwmon3/freq2_input", "1000000000\n");
  EXPECT_THAT(sensors().read().values,
              ElementsAre(37, 12, 1073741824, 4096, 251'000'000, 64'000, 2'300'000'000, 1'000'000'000));
}

TEST_F(SensorTree, OlderAndNewerDriversNameFilesDifferently) {
  device("hwmon/hwmon0/power1_input", "45000000\n");
  device("pp_dpm_sclk", "0: 500Mhz\n1: 2575Mhz *\n2: 2600Mhz\n");
  EXPECT_EQ(value(Sensor::Power), 45'000'000);
  EXPECT_EQ(value(Sensor::Clock), 2'575'000'000);
  device("pp_dpm_sclk", "0: 500Mhz *\n1: 2575Mhz\n");
  EXPECT_EQ(value(Sensor::Clock), 500'000'000);
}

TEST_F(SensorTree, NonsenseIsNoReading) {
  for (const char* text : {"", "\n", "busy\n", "12 percent\n", "99999999999999999999999\n"}) {
    device("gpu_busy_percent", text);
    EXPECT_EQ(value(Sensor::Busy), std::nullopt) << text;
  }
  for (const char* text : {"", "*", "1: *", "1: Mhz *", "1: 5Ghz *", "1: 500Mhz", "500Mhz *", "1: -5Mhz *",
                           "1: 99999999999Mhz *", "0: 1Mhz\n*"}) {
    device("pp_dpm_sclk", text);
    EXPECT_EQ(value(Sensor::Clock), std::nullopt) << text;
  }
}

TEST_F(SensorTree, WithoutFilesThereIsNothing) {
  for (const auto& each : sensors().read().values) EXPECT_EQ(each, std::nullopt);
  EXPECT_THAT(sensors().holders(), IsEmpty());
}

TEST_F(SensorTree, ASuspendedGpuIsNotAsked) {
  device("gpu_busy_percent", "37\n");
  device("power/runtime_status", "suspended\n");
  const SensorReading reading = sensors().read();
  EXPECT_TRUE(reading.asleep);
  EXPECT_EQ(reading.values[0], std::nullopt);
  device("power/runtime_status", "active\n");
  EXPECT_EQ(value(Sensor::Busy), 37);
}

TEST_F(SensorTree, HoldersOfMemoryComeLargestFirst) {
  process(100, "4096\n");
  process(200, "1048576\n");
  process(300, "0\n");
  write("class/kfd/kfd/proc/400/vram_78", "5\n");
  write("class/kfd/kfd/proc/self/vram_77", "5\n");
  EXPECT_THAT(sensors().holders(), ElementsAre(GpuHolder{200, 1048576}, GpuHolder{100, 4096}));
}

TEST_F(SensorTree, EachGpuOfTheTopologyHasSensors) {
  KfdTopology topology;
  topology.nodes.push_back({.node = 0});
  topology.nodes.push_back({.node = 1, .gpu = true, .pci = "0000:0a:00.0"});
  topology.nodes.push_back({.node = 2, .gpu = true});
  const auto all = sensors_of(root_.string(), topology);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].node(), 1);
}

TEST(SensorSecond, AddsUpWhatWasGiven) {
  SensorSecond second(4);
  SensorReading reading;
  reading.values[0] = 10;
  EXPECT_FALSE(second.is_over(5000 * kMs)) << "nothing was read yet";
  second.add(100 * kMs, reading);
  reading.values[0] = 50;
  second.add(200 * kMs, reading);
  second.add(300 * kMs, {.asleep = true});
  EXPECT_FALSE(second.is_over(1099 * kMs));
  ASSERT_TRUE(second.is_over(1100 * kMs));
  const GpuSample sample = second.take(1150 * kMs, {{7, 8}});
  EXPECT_EQ(sample.at, 100 * kMs);
  EXPECT_EQ(sample.duration, 1050 * kMs);
  EXPECT_EQ(sample.node, 4);
  EXPECT_EQ(sample.looks, 3u);
  EXPECT_EQ(sample.asleep, 1u);
  EXPECT_EQ(sample.values[0], (SensorValues{2, 60, 10, 50}));
  EXPECT_EQ(sample.values[1].n, 0u);
  EXPECT_THAT(sample.holders, ElementsAre(GpuHolder{7, 8}));
  EXPECT_TRUE(second.empty()) << "it begins anew";
  EXPECT_EQ(second.take(0, {}).node, 4);
}

TEST_F(SensorTree, AWatchGivesTheLastSecondAtItsEnd) {
  device("gpu_busy_percent", "37\n");
  std::vector<GpuSensors> gpus{sensors()};
  SensorWatch watch(gpus, SessionClock{});
  ASSERT_TRUE(watch.start());
  std::vector<GpuSample> samples;
  // A loaded machine may begin the thread late.
  while ((samples = watch.take()).empty()) std::this_thread::yield();
  for (GpuSample& last : watch.finish()) samples.push_back(last);
  for (const GpuSample& sample : samples) {
    EXPECT_EQ(sample.node, 1);
    EXPECT_GT(sample.looks, 0u);
    EXPECT_EQ(sample.values[0].most, 37);
    EXPECT_EQ(sample.values[0].least, 37);
  }
  EXPECT_THAT(watch.finish(), IsEmpty()) << "it has ended";
}

TEST_F(SensorTree, APausedWatchDoesNotLook) {
  device("gpu_busy_percent", "37\n");
  SensorWatch watch({sensors()}, SessionClock{});
  watch.pause(true);
  ASSERT_TRUE(watch.start());
  EXPECT_THAT(watch.finish(), IsEmpty());
}

TEST_F(SensorTree, APauseEndsTheSecond) {
  device("gpu_busy_percent", "37\n");
  SensorWatch watch({sensors()}, SessionClock{});
  ASSERT_TRUE(watch.start());
  while (watch.take().empty()) std::this_thread::yield();
  watch.pause(true);
  while (watch.take().empty()) std::this_thread::yield();  // for ever if it only ended with the recording
}

TEST(SensorWatch, NeedsNoThreadWithoutGpus) {
  SensorWatch watch({}, SessionClock{});
  ASSERT_TRUE(watch.start());
  EXPECT_THAT(watch.finish(), IsEmpty());
}

}  // namespace
}  // namespace fade
