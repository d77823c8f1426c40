// Trees of tests/sysfs, and trees of the test's own that are not as they should be.
#include "supervisor/kfd_topology.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string tree(const std::string& name) {
  return (std::filesystem::path(FADE_TEST_FOLDER).parent_path().parent_path() / "sysfs" / name).string();
}
KfdTopology read(const std::string& name) { return KfdReader(tree(name)).read(); }

TEST(Kfd, TellsTheFactsOfAnRx6800Xt) {
  const KfdTopology topology = read("rx6800xt");
  EXPECT_EQ(topology.problem, "");
  ASSERT_THAT(topology.nodes, SizeIs(2));
  const KfdNode& cpu = topology.nodes[0];
  EXPECT_FALSE(cpu.gpu);
  EXPECT_THAT(cpu.name, HasSubstr("Ryzen"));
  EXPECT_EQ(cpu.memory_bytes, 33562451968u);
  EXPECT_EQ(cpu.pci + cpu.arch + cpu.uuid, "");
  const KfdNode& gpu = topology.nodes[1];
  EXPECT_TRUE(gpu.gpu);
  EXPECT_EQ(gpu.compute_units(), 72u);
  EXPECT_EQ(gpu.arch, "gfx1030");
  EXPECT_EQ(gpu.pci, "0000:0a:00.0");
  EXPECT_EQ(gpu.device_id, 0x73bfu);
  EXPECT_EQ(gpu.revision, 0xc1u);
  EXPECT_EQ(gpu.wave_size, 32u);
  EXPECT_EQ(gpu.memory_bytes, 17163091968u);
  EXPECT_EQ(gpu.memory_bits, 256u);
  EXPECT_EQ(gpu.max_mhz, 2575u);
  EXPECT_EQ(gpu.uuid, "GPU-b5e003cf189a4f81");
}

TEST(Kfd, TellsTheFactsOfARealRx7900Xtx) {
  const KfdTopology topology = read("rx7900xtx");
  ASSERT_THAT(topology.nodes, SizeIs(2));
  EXPECT_EQ(topology.nodes[1].compute_units(), 96u);
  EXPECT_EQ(topology.nodes[1].arch, "gfx1100");
  EXPECT_EQ(topology.nodes[1].pci, "0000:03:00.0");
}

TEST(Kfd, KeepsTheOrderOfTheDriver) {
  const KfdTopology topology = read("swapped");
  ASSERT_THAT(topology.nodes, SizeIs(3));
  EXPECT_EQ(topology.nodes[1].pci, "0000:04:00.0");
  EXPECT_EQ(topology.nodes[2].pci, "0000:03:00.0");
}

TEST(Kfd, WithoutADriverSaysWhatIsMissing) {
  const KfdTopology topology = read("none");
  EXPECT_THAT(topology.nodes, IsEmpty());
  EXPECT_THAT(topology.problem, HasSubstr("No such file or directory"));
  EXPECT_EQ(topology.root, tree("none"));
}

TEST(Kfd, NamesArchitecturesAsCompilersDo) {
  EXPECT_EQ(gfx_name(90'010), "gfx90a");
  EXPECT_EQ(gfx_name(90'402), "gfx942");
  EXPECT_EQ(gfx_name(100'300), "gfx1030");
  EXPECT_EQ(gfx_name(110'501), "gfx1151");
  EXPECT_EQ(gfx_name(0), "");
  EXPECT_EQ(gfx_name(99), "");
  EXPECT_EQ(gfx_name(109'900), "") << "no hexadecimal digit";
  EXPECT_EQ(gfx_name(UINT64_MAX), "");
}

TEST(Kfd, WritesPciAddressesAsTheKernelDoes) {
  EXPECT_EQ(pci_address(0, 0x0a00), "0000:0a:00.0");
  EXPECT_EQ(pci_address(0x10001, 0xc1 << 8 | 0x1f << 3 | 7), "10001:c1:1f.7");
  EXPECT_EQ(pci_address(UINT64_MAX, UINT64_MAX), "ffffffff:ff:1f.7");
}

// A tree that a test writes.
class OddTree : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::filesystem::path at(const std::string& name) const { return root_ / "class/kfd/kfd/topology/nodes" / name; }
  void file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(at(name).parent_path());
    std::ofstream(at(name), std::ios::binary) << content;
  }
  KfdTopology read() const { return KfdReader(root_.string()).read(); }

  const std::filesystem::path root_ = [] {
    std::string name = testing::TempDir() + "fade-sysfs-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
};

TEST_F(OddTree, PropertiesThatCannotBeReadLeaveAGpuWithoutFacts) {
  file("1/gpu_id", "18467\n");
  std::filesystem::create_directories(at("1/properties"));
  file("2/gpu_id", "18468\n");
  file("3/gpu_id", "18469\n");
  file("3/properties", "\n");
  const KfdTopology topology = read();
  ASSERT_THAT(topology.nodes, SizeIs(3));
  for (const KfdNode& node : topology.nodes) {
    EXPECT_TRUE(node.gpu);
    EXPECT_EQ(node.compute_units(), std::nullopt);
    EXPECT_EQ(node.pci, "") << "an address of zeros would match somebody";
  }
  EXPECT_THAT(topology.nodes[0].problem, HasSubstr("Is a directory"));
  EXPECT_THAT(topology.nodes[1].problem, HasSubstr("No such file"));
  EXPECT_EQ(topology.nodes[2].problem, "its properties are empty");
}

TEST_F(OddTree, WhatIsWhollyRefusedIsAGpu) {
  for (const char* name : {"1/gpu_id", "1/name", "1/properties"}) std::filesystem::create_directories(at(name));
  file("2/gpu_id", "0\n");
  const KfdTopology topology = read();
  EXPECT_TRUE(topology.nodes.at(0).gpu);
  EXPECT_THAT(topology.nodes.at(0).problem, HasSubstr("cannot be read"));
  EXPECT_FALSE(topology.nodes.at(1).gpu);
}

TEST_F(OddTree, NonsenseIsNoNumber) {
  file("1/gpu_id", "many\n");
  file("1/properties",
       "simd_count 144\nsimd_per_cu 0\ngfx_target_version -1\ndevice_id 99999999999999999999\nmax_engine_clk_fcompute "
       "2575 MHz\nsimd_coun 3\nlocation_id\n");
  file("1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 18446744073709551615\n");
  file("1/mem_banks/1/properties", "heap_type 2\nsize_in_bytes 1024\n");
  file("1/mem_banks/x/properties", "heap_type 1\nsize_in_bytes 5\n");
  const KfdTopology topology = read();
  ASSERT_THAT(topology.nodes, SizeIs(1));
  const KfdNode& node = topology.nodes[0];
  EXPECT_TRUE(node.gpu) << "it has SIMDs";
  EXPECT_EQ(node.compute_units(), std::nullopt) << "nothing is divided by zero";
  EXPECT_EQ(node.arch + node.pci, "");
  EXPECT_EQ(node.device_id, std::nullopt);
  EXPECT_EQ(node.max_mhz, 2575u);
  EXPECT_EQ(node.memory_bytes, 1024u);
}

TEST_F(OddTree, OfAnApuOnlyItsOwnMemoryCounts) {
  file("0/gpu_id", "7\n");
  file("0/properties", "cpu_cores_count 16\nsimd_count 16\nsimd_per_cu 4\n");
  file("0/mem_banks/0/properties", "heap_type 0\nsize_in_bytes 33554432\n");
  file("0/mem_banks/1/properties", "heap_type 1\nsize_in_bytes 1048576\n");
  file("0/mem_banks/2/properties", "heap_type 2\nsize_in_bytes 1048576\n");
  ASSERT_THAT(read().nodes, SizeIs(1));
  EXPECT_EQ(read().nodes[0].memory_bytes, 2'097'152u);
}

TEST_F(OddTree, NobodyIsWaitedFor) {
  std::filesystem::create_directories(at("1"));
  ASSERT_EQ(::mkfifo(at("1/properties").c_str(), 0600), 0);
  ASSERT_THAT(read().nodes, SizeIs(1));
  EXPECT_THAT(read().nodes[0].problem, HasSubstr("cannot be read"));
}

TEST_F(OddTree, OnlySoMuchIsRead) {
  file("1/properties", std::string(1 << 20, 'x') + "\nsimd_count 4\n");
  EXPECT_EQ(read().nodes.at(0).simd_count, std::nullopt);
  for (int i = 2; i < 1'100; ++i) std::filesystem::create_directories(at(std::to_string(i)));
  std::filesystem::create_directories(at("-1"));
  std::filesystem::create_directories(at("99999999999999999999"));
  const KfdTopology topology = read();
  EXPECT_THAT(topology.nodes, SizeIs(1'024));
  EXPECT_THAT(topology.problem, HasSubstr("more than 1024 nodes"));
}

TEST_F(OddTree, NamesArePrintableAndShort) {
  file("1/name", std::string(10'000, 'n') + "\n");
  file("2/name", "evil\x1b[31m\nsecond line");
  const KfdTopology topology = read();
  EXPECT_THAT(topology.nodes[0].name, SizeIs(64));
  EXPECT_EQ(topology.nodes[1].name, "evil\\x1b[31m");
}

TEST_F(OddTree, ARevisionIsOneByte) {
  file("1/properties", "simd_count 4\nlocation_id 2560\n");
  const auto revision = root_ / "bus/pci/devices/0000:0a:00.0/revision";
  std::filesystem::create_directories(revision.parent_path());
  std::ofstream(revision) << "0x1c1\n";
  EXPECT_EQ(read().nodes[0].revision, std::nullopt);
  std::ofstream(revision) << "0xc1\n";
  EXPECT_EQ(read().nodes[0].revision, 0xc1u);
}

}  // namespace
}  // namespace fade
