// Devices as programs were told about them, beside what the driver and the reference table say: who is who, and what
// the variables leave. The findings made of it are tested with programs (tests/e2e/test_device_findings.py).
#include <gmock/gmock.h>

#include "schema/schema.hpp"
#include "store/gpu_table.hpp"
#include "store/kfd_rows.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kUuid = "GPU-b5e003cf189a4f81";
constexpr const char* kUuidAsHipTellsIt = "62356530303363663138396134663831";  // its digits as characters

class Truth : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(opened);
    db = std::move(*opened);
    for (const auto part : {schema::tables(), schema::views()}) run(part);
    ASSERT_TRUE(write_gpus(db, schema::gpus()));
    run("INSERT INTO session_ (id, kind, start_ns, boot_ns) VALUES (1, 'run', 0, 0)");
  }
  void run(std::string_view sql) {
    const auto done = db.exec(sql);
    ASSERT_TRUE(done) << sql << done.error().text();
  }
  static KfdNode gpu(int number, const std::string& pci, std::uint64_t units = 72, std::uint64_t id = 0x73bf,
                     std::optional<std::uint64_t> revision = 0xc1) {
    KfdNode node;
    node.node = number;
    node.gpu = true;
    node.pci = pci;
    node.arch = "gfx1030";
    node.simd_count = units * 2;
    node.simd_per_cu = 2;
    node.vendor_id = 0x1002;
    node.device_id = id;
    node.revision = revision;
    return node;
  }
  void topology(std::vector<KfdNode> nodes) {
    KfdTopology all;
    all.root = "/sys";
    all.nodes = std::move(nodes);
    const auto done = write_topology(db, 1, all);
    ASSERT_TRUE(done) << done.error().text();
  }
  // A process that loaded HIP.
  void process(int id, const std::string& environment = "{}") {
    auto insert = db.prepare("INSERT INTO process_ (id, session, pid, ts, env) VALUES (?1, 1, ?1 + 100, 0, ?2)");
    insert->bind(id, environment);
    ASSERT_TRUE(insert->run());
    run("INSERT INTO module_ (process, path, role, sites, ts) VALUES (" + std::to_string(id) +
        ", 'libamdhip64.so', 'hip', 1, 0)");
  }
  void device(int id, int process, int ordinal, std::optional<std::string> pci, std::optional<std::string> uuid = {}) {
    auto insert = db.prepare(
        "INSERT INTO device_ (id, process, ordinal, name, pci, uuid) VALUES (?, ?, ?, 'AMD Radeon RX 6800 XT', ?, ?)");
    insert->bind(id, process, ordinal, pci, uuid);
    ASSERT_TRUE(insert->run());
  }
  std::vector<std::string> rows(const std::string& sql) {
    auto stmt = db.prepare(sql);
    EXPECT_TRUE(stmt) << (stmt ? "" : stmt.error().text());
    std::vector<std::string> out;
    for (;;) {
      const auto row = stmt->step();
      EXPECT_TRUE(row) << sql << (row ? "" : row.error().text());
      if (!row || !*row) return out;
      std::string& line = out.emplace_back();
      for (int i = 0; i < stmt->columns(); ++i) line += (i ? "|" : "") + std::string(stmt->text(i));
    }
  }
  std::vector<std::string> matches() {
    return rows("SELECT device, node, matched_by FROM device_truth ORDER BY device");
  }
  std::vector<std::string> visible(const std::string& environment) {
    run("DELETE FROM process_; DELETE FROM module_");
    process(1, environment);
    return rows("SELECT node, device, hidden_by FROM visible_gpus ORDER BY node");
  }

  sqlite::Db db;
};

TEST_F(Truth, TheTableHoldsEveryRowOfItsFile) {
  EXPECT_THAT(rows("SELECT count(*), count(DISTINCT name) FROM gpu_"), ElementsAre("104|104"));
  EXPECT_THAT(rows("SELECT chip, arch, compute_units, memory, shared_memory, memory_bits, boost_mhz, l2, l3, "
                   "wave_size, pci_ids FROM reference_gpus WHERE name = 'Radeon RX 6800 XT'"),
              ElementsAre("Navi 21|gfx1030|72|17179869184|0|256|2250|4194304|134217728|32|73bf:c1"));
  EXPECT_THAT(
      rows("SELECT memory, shared_memory, wave_size FROM reference_gpus WHERE name = 'Radeon 610M (Mendocino)'"),
      ElementsAre("|1|32"));
}

TEST_F(Truth, OneDeviceIdIsSeveralProducts) {
  topology({gpu(1, "0000:01:00.0"), gpu(2, "0000:02:00.0", 60, 0x73bf, 0xc3),
            gpu(3, "0000:03:00.0", 80, 0x73bf, std::nullopt), gpu(4, "0000:04:00.0", 33, 0x73bf, 0x77),
            gpu(5, "0000:05:00.0", 60, 0x73ab, 0x12)});
  EXPECT_THAT(
      rows("SELECT k.node, g.name, n.matched_by FROM node_gpus n JOIN kfd_nodes k ON k.id = n.node_id JOIN "
           "reference_gpus g ON g.id = n.gpu_id ORDER BY 1"),
      ElementsAre("1|Radeon RX 6800 XT|device id and revision", "2|Radeon RX 6800|device id and revision",
                  "3|Radeon RX 6900 XT|device id and compute units", "5|Radeon Pro W6800X|device id and revision"));
}

TEST_F(Truth, EqualIdsAreToldByTheirComputeUnits) {
  topology({gpu(1, "0000:01:00.0", 104, 0x740c, 1), gpu(2, "0000:02:00.0", 110, 0x740c, 1)});
  EXPECT_THAT(rows("SELECT g.name FROM node_gpus n JOIN reference_gpus g ON g.id = n.gpu_id ORDER BY n.node_id"),
              ElementsAre("Instinct MI250 (per GCD)", "Instinct MI250X (per GCD)"));
}

TEST_F(Truth, OtherMakersAreNotLookedUp) {
  KfdNode other = gpu(1, "0000:01:00.0");
  other.vendor_id = 0x10de;
  topology({other});
  EXPECT_THAT(rows("SELECT * FROM node_gpus"), IsEmpty());
}

TEST_F(Truth, AttributesTellAnAddressTooAndZerosAreNoUuid) {
  process(1);
  topology({gpu(1, "0000:04:00.0"), gpu(2, "0000:03:00.0")});
  device(1, 1, 0, std::nullopt, "00000000000000000000000000000000");
  device(2, 1, 1, std::nullopt);
  run("INSERT INTO device_prop_ (device, name, value, source, ts) VALUES (1, 'hipDeviceAttributePciBusId', '3', "
      "'api:hipDeviceGetAttribute', 1), "
      "(1, 'hipDeviceAttributePciDeviceId', '0', 'api:hipDeviceGetAttribute', 1), (2, 'hipDeviceAttributePciBusId', "
      "'4', 'api:hipDeviceGetAttribute', 1)");
  EXPECT_THAT(matches(), ElementsAre("0|2|PCI address", "1||")) << "half an address is none";
  EXPECT_THAT(rows("SELECT ordinal, pci, uuid FROM devices"), ElementsAre("0|0000:03:00.0|", "1||"));
}

TEST_F(Truth, AUuidOfZerosDoesNotHideTheOnlyGpu) {
  process(1);
  topology({gpu(1, "0000:04:00.0")});
  device(1, 1, 0, std::nullopt, "00000000-0000-0000-0000-000000000000");
  EXPECT_THAT(matches(), ElementsAre("0|1|only GPU"));
}

TEST_F(Truth, DevicesAreFoundByAddressWhateverTheirNumber) {
  process(1);
  topology({gpu(1, "0000:04:00.0"), gpu(2, "0000:03:00.0")});
  device(1, 1, 0, "0000:03:00.0");
  device(2, 1, 1, "0000:04:00.0");
  device(3, 1, 2, "0001:04:00.0");
  EXPECT_THAT(matches(), ElementsAre("0|2|PCI address", "1|1|PCI address", "2||"))
      << "another domain is another device";
}

TEST_F(Truth, CapitalLettersAreNoDifference) {
  process(1);
  topology({gpu(1, "0000:0a:00.0"), gpu(2, "0000:0b:00.0")});
  device(1, 1, 0, "0000:0B:00.0");
  EXPECT_THAT(matches(), ElementsAre("0|2|PCI address"));
}

TEST_F(Truth, WithoutAnAddressTheUniqueIdTells) {
  process(1);
  KfdNode second = gpu(2, "0000:0b:00.0");
  second.uuid = kUuid;
  topology({gpu(1, "0000:0a:00.0"), second});
  device(1, 1, 0, std::nullopt, kUuidAsHipTellsIt);
  device(2, 1, 1, "0000:77:00.0", kUuidAsHipTellsIt);
  device(3, 1, 2, std::nullopt, "00");
  EXPECT_THAT(matches(), ElementsAre("0|2|unique id", "1|2|unique id", "2||"));
}

TEST_F(Truth, PartitionsOfOneCardAreToldByFunctionOrUniqueId) {
  process(1);
  KfdNode second = gpu(2, "0000:0a:00.1");
  second.uuid = kUuid;
  topology({gpu(1, "0000:0a:00.0"), second});
  device(1, 1, 0, "0000:0a:00.0", kUuidAsHipTellsIt);
  device(2, 1, 1, "0000:0a:00.0");
  device(3, 1, 2, "0000:0a:00.1");
  run("INSERT INTO device_prop_ (device, name, value, source, ts) VALUES (3, 'pciBusId', '0000:0a:00.1', "
      "'api:hipDeviceGetPCIBusId', 0)");
  EXPECT_THAT(matches(), ElementsAre("0|2|PCI address and unique id", "1||", "2|2|PCI address"))
      << "an address without function would be a guess";
}

TEST_F(Truth, TheOnlyGpuNeedsNoAddress) {
  process(1);
  KfdNode cpu;
  topology({cpu, gpu(1, "0000:0a:00.0")});
  device(1, 1, 0, std::nullopt);
  device(2, 1, 1, std::nullopt);
  EXPECT_THAT(matches(), ElementsAre("0|1|only GPU", "1||"));
  run("DELETE FROM kfd_node_");
  EXPECT_THAT(rows("SELECT reference_name, reference_by FROM device_truth WHERE device = 1"),
              ElementsAre("Radeon RX 6800 XT|name"));
}

TEST_F(Truth, AnswersOfZludaStandBesideHips) {
  process(1);
  device(1, 1, 0, std::nullopt);
  run("INSERT INTO device_prop_ (device, name, value, source, ts) VALUES (1, 'multiProcessorCount', '36', "
      "'api:hipGetDevicePropertiesR0600', 0), (1, 'hipDeviceAttributeMultiprocessorCount', '36', "
      "'api:hipDeviceGetAttribute', 0), (1, 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', '37', "
      "'api:cuDeviceGetAttribute', 0), (1, 'clockRate', '2575000', 'api:hipGetDevicePropertiesR0600', 0), "
      "(1, 'multiProcessorCount', '72', 'override:hipGetDeviceProperties', 1), (1, "
      "'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', '96', 'override:cuDeviceGetAttribute', 1), (1, 'name', 'AMD Radeon "
      "RX 6800 XT [ZLUDA]', 'api:cuDeviceGetName', 0)");
  EXPECT_THAT(
      rows("SELECT fact, told, told_by_zluda, received, received_from_zluda, told_by FROM device_facts WHERE fact IN "
           "('multiprocessors', 'clock', 'name') ORDER BY place"),
      ElementsAre("name||AMD Radeon RX 6800 XT [ZLUDA]|||cuDeviceGetName",
                  "multiprocessors|36|37|72|96|hipGetDevicePropertiesR0600,hipDeviceGetAttribute,cuDeviceGetAttribute",
                  "clock|2575||||hipGetDevicePropertiesR0600"));
  EXPECT_THAT(rows("SELECT told_multiprocessors, received_multiprocessors FROM device_truth"), ElementsAre("36|96"));
}

TEST_F(Truth, SessionsOfOneFileKeepTheirOwnTopology) {
  topology({gpu(1, "0000:0a:00.0")});
  run("INSERT INTO session_ (id, kind, start_ns, boot_ns) VALUES (2, 'run', 0, 0); INSERT INTO process_ (id, session, "
      "pid, ts) VALUES (1, 2, 100, 0)");
  device(1, 1, 0, "0000:0a:00.0");
  EXPECT_THAT(matches(), ElementsAre("0||"));
}

TEST_F(Truth, VariablesAreLookedAtInTheirOrder) {
  KfdNode third = gpu(3, "0000:0c:00.0");
  third.uuid = kUuid;
  topology({gpu(1, "0000:0a:00.0"), gpu(2, "0000:0b:00.0"), third});
  EXPECT_THAT(visible("{}"), ElementsAre("1|0|", "2|1|", "3|2|"));
  EXPECT_THAT(visible(R"({"ROCR_VISIBLE_DEVICES":"2,0","HIP_VISIBLE_DEVICES":"1"})"),
              ElementsAre("1|0|", "2||ROCR_VISIBLE_DEVICES", "3||HIP_VISIBLE_DEVICES"));
  EXPECT_THAT(visible(R"({"HIP_VISIBLE_DEVICES":"1","CUDA_VISIBLE_DEVICES":"0"})"),
              ElementsAre("1||HIP_VISIBLE_DEVICES", "2|0|", "3||HIP_VISIBLE_DEVICES"));
  EXPECT_THAT(visible(R"({"HIP_VISIBLE_DEVICES":"","CUDA_VISIBLE_DEVICES":"0"})"),
              ElementsAre("1|0|", "2||CUDA_VISIBLE_DEVICES", "3||CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(visible(R"({"ROCR_VISIBLE_DEVICES":"GPU-B5E003CF189A4F81"})"),
              ElementsAre("1||ROCR_VISIBLE_DEVICES", "2||ROCR_VISIBLE_DEVICES", "3|0|"));
  EXPECT_THAT(visible(R"({"HIP_VISIBLE_DEVICES":"0,7,1"})"),
              ElementsAre("1|0|", "2||HIP_VISIBLE_DEVICES", "3||HIP_VISIBLE_DEVICES"))
      << "ends at the first that names nothing";
  EXPECT_THAT(visible(R"({"HIP_VISIBLE_DEVICES":" 1 , 0,0"})"), ElementsAre("1|1|", "2|0|", "3||HIP_VISIBLE_DEVICES"));
  EXPECT_THAT(visible(R"({"ROCR_VISIBLE_DEVICES":""})"),
              ElementsAre("1||ROCR_VISIBLE_DEVICES", "2||ROCR_VISIBLE_DEVICES", "3||ROCR_VISIBLE_DEVICES"));
}

TEST_F(Truth, OddVariablesBreakNothing) {
  topology({gpu(1, "0000:0a:00.0")});
  for (const char* value : {R"(\u0001\"\\,)", ",,,", "]", R"(\",\")", "-1", "1e0", "'; --", "99999999999999999999",
                            R"(\n)", "1,1,1,1,1,1,1,1,1"})
    EXPECT_THAT(visible(R"({"ROCR_VISIBLE_DEVICES":")" + std::string(value) + "\"}"),
                ElementsAre("1||ROCR_VISIBLE_DEVICES"))
        << value;
}

}  // namespace
}  // namespace fade::store
