// Rows about the driver, device nodes, topology, variables, memory and disk.
#include "fake_machine.hpp"

namespace fade::doctor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(FakeMachine, DriverIsNotLoaded) {
  remove("/sys/module");
  remove("/sys/class");
  remove("/dev");
  EXPECT_THAT(line("driver"), Refuses("not loaded for the AMD GPU at 0000:0a:00.0", "sudo modprobe amdgpu"));
  EXPECT_THAT(line("/dev/kfd"), None("the driver makes it"));
  EXPECT_THAT(line("topology"), None("/sys/class/kfd"));
  remove("/sys/bus");
  EXPECT_THAT(line("driver"), Refuses("no AMD GPU", "use a machine with an AMD GPU"));
  file("/dev/dxg", "");
  EXPECT_THAT(line("driver"), Ok("WSL"));
}

TEST_F(FakeMachine, OtherVendorsAndOtherDevicesAreNoGpu) {
  remove("/sys/module");
  remove("/sys/class");
  file("/sys/bus/pci/devices/0000:0a:00.0/class", "0x040300\n");  // sound of the same board
  file("/sys/bus/pci/devices/0000:0b:00.0/class", "0x030000\n");
  file("/sys/bus/pci/devices/0000:0b:00.0/vendor", "0x10de\n");
  EXPECT_THAT(line("driver"), Refuses("no AMD GPU", "use a machine"));
}

TEST_F(FakeMachine, DriverVersions) {
  EXPECT_THAT(line("driver"), Ok("amdgpu 6.8.5"));
  remove("/sys/module/amdgpu/version");
  EXPECT_THAT(line("driver"), Ok("amdgpu of the kernel"));
}

TEST_F(FakeMachine, KfdIsMissing) {
  remove("/dev/kfd");
  EXPECT_THAT(line("/dev/kfd"), Refuses("HIP finds no GPU, though the driver is loaded", "dmesg"));
  file("/.dockerenv", "");
  EXPECT_THAT(line("/dev/kfd"), Refuses("the container was not given it", "--device=/dev/kfd"));
}

TEST_F(FakeMachine, NodesMayNotBeOpened) {
  mode("/dev/kfd", 0660);
  mode("/dev/dri/renderD128", 0660);
  EXPECT_THAT(line("/dev/kfd"), Refuses("may not be opened by this process: mode 0660", "sudo usermod -aG"));
  EXPECT_THAT(line("renderD128"), Refuses("the process has user id 4242", "log in again"));
  file("/.dockerenv", "");
  EXPECT_THAT(line("/dev/kfd"), Refuses("mode 0660", "docker run --group-add"));
}

TEST_F(FakeMachine, RenderNodes) {
  EXPECT_THAT(line("renderD128"), Ok("it may be opened (mode 0666"));
  remove("/dev/dri");
  EXPECT_THAT(line("render nodes"), Refuses("no /dev/dri/renderD*", "dmesg"));
  remove("/dev/kfd");
  EXPECT_THAT(line("render nodes"), None("no /dev/kfd"));
}

TEST_F(FakeMachine, Topology) {
  EXPECT_THAT(line("topology"), Ok("node 1: gfx1030 (navi21), 72 compute units at 0000:0a:00.0"));
  file("/sys/class/kfd/kfd/topology/nodes/2/gpu_id", "77\n");
  file("/sys/class/kfd/kfd/topology/nodes/2/properties", "");
  EXPECT_THAT(lines("topology"), ElementsAre(Ok("node 1"), Warns("node 2: its properties are empty", "renderD*")));
  remove("/sys/class/kfd/kfd");
  EXPECT_THAT(line("topology"), Warns("cannot be read", "--sysfs-root"));
}

TEST_F(FakeMachine, NoGpuInTheTopology) {
  remove("/sys/class/kfd/kfd/topology/nodes/1");
  file("/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
  file("/sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 16\nsimd_count 0\n");
  EXPECT_THAT(line("topology"), Refuses("lists no GPU", "dmesg"));
}

struct VisibleCase {
  const char* variable;
  Verdict verdict;
  const char* text;
};

TEST_F(FakeMachine, VisibleDevices) {
  node(2, "255");
  const VisibleCase cases[] = {
      {"ROCR_VISIBLE_DEVICES=", Verdict::Problem, "hides every GPU"},
      {"ROCR_VISIBLE_DEVICES=1", Verdict::Ok, "leaves 1 of 2 GPUs"},
      {"ROCR_VISIBLE_DEVICES=0,1", Verdict::Ok, "leaves 2 of 2 GPUs"},
      {"ROCR_VISIBLE_DEVICES=1,7,0", Verdict::Ok, "leaves 1 of 2 GPUs"},
      {"ROCR_VISIBLE_DEVICES=GPU-00000000000000FF", Verdict::Ok, "leaves 1 of 2 GPUs"},
      {"HIP_VISIBLE_DEVICES=2", Verdict::Problem, "hides every GPU"},
      {"HIP_VISIBLE_DEVICES=-1", Verdict::Problem, "hides every GPU"},
      {"CUDA_VISIBLE_DEVICES=0", Verdict::Ok, "leaves 1 of 2 GPUs"},
  };
  for (const auto& [variable, verdict, text] : cases) {
    x.environment = {{variable}};
    const std::string name(variable, std::string_view(variable).find('='));
    EXPECT_THAT(line(name), Says(verdict, text, verdict == Verdict::Problem ? "unset " + name : "")) << variable;
  }
  x.environment = {{"HIP_VISIBLE_DEVICES="}};
  EXPECT_THAT(line("visible GPUs"), Ok("no variable hides a GPU"));
}

TEST_F(FakeMachine, VisibleDevicesWorkTogether) {
  node(2);
  x.environment = {{"ROCR_VISIBLE_DEVICES=1", "HIP_VISIBLE_DEVICES=1"}};
  EXPECT_THAT(line("HIP_VISIBLE_DEVICES"), Refuses("hides every GPU", "unset HIP_VISIBLE_DEVICES"));
  x.environment = {{"HIP_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES=0"}};
  EXPECT_THAT(line("CUDA_VISIBLE_DEVICES"), Warns("has no effect", "both alike"));
  x.environment = std::nullopt;
  EXPECT_THAT(line("visible GPUs"), None("may not be read"));
}

TEST_F(FakeMachine, VisibleDevicesOfUnknownGpus) {
  remove("/sys/class/kfd");
  x.environment = {{"HIP_VISIBLE_DEVICES=0"}};
  EXPECT_THAT(line("HIP_VISIBLE_DEVICES"), Ok("chooses among the GPUs"));
}

TEST_F(FakeMachine, VariablesThatChangeWhatIsSeen) {
  EXPECT_THAT(line("others"), Ok("none"));
  for (const char* variable :
       {"HSA_OVERRIDE_GFX_VERSION=10.3.0", "HSA_OVERRIDE_GFX_VERSION_1=10.3.0", "GPU_ENABLE_WGP_MODE=0",
        "ROC_GLOBAL_CU_MASK=0xff", "AMD_SERIALIZE_KERNEL=3", "LD_PRELOAD=/x.so", "HSA_MODEL_TOPOLOGY=/m"}) {
    x.environment = {{variable}};
    const std::string name(variable, std::string_view(variable).find('='));
    EXPECT_THAT(line(name), Warns(": ", "unset")) << variable;
  }
  x.environment = {{"AMD_SERIALIZE_KERNEL=0", "GPU_ENABLE_WGP_MODE=1", "LD_PRELOAD=", "XHSA_OVERRIDE_GFX_VERSION=1"}};
  EXPECT_THAT(line("others"), Ok("none"));
}

TEST_F(FakeMachine, LittleMemory) {
  file("/proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 500000 kB\n");
  EXPECT_THAT(line("memory"), Warns("488 MiB of 3.8 GiB available", "ps -e"));
}

TEST_F(FakeMachine, LimitOfTheControlGroup) {
  EXPECT_THAT(line("cgroup"), Ok("no limit"));
  file("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  file("/sys/fs/cgroup/user.slice/memory.max", "536870912\n");  // that of the group above counts too
  file("/sys/fs/cgroup/user.slice/memory.current", "104857600\n");
  EXPECT_THAT(line("cgroup"), Warns("412 MiB of 512 MiB left (/sys/fs/cgroup/user.slice/memory.max)", "--memory="));
  file("/sys/fs/cgroup/user.slice/memory.max", "34359738368\n");
  EXPECT_THAT(line("cgroup"), Ok("31.9 GiB of 32.0 GiB left"));
}

TEST_F(FakeMachine, LimitOfTheControlGroupOfVersion1) {
  file("/proc/5000/cgroup", "4:memory:/docker/abc\n1:cpu:/\n");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");  // a container sees its own group as the root
  EXPECT_THAT(line("cgroup"), Warns("256 MiB of 256 MiB left", "--memory="));
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_THAT(line("cgroup"), Ok("no limit"));
}

TEST_F(FakeMachine, LimitOfAddressSpace) {
  file("/proc/5000/limits", limits("8589934592"));
  EXPECT_THAT(line("ulimit -v"), Warns("8.0 GiB of address space", "ulimit -v unlimited"));
  remove("/proc/5000/limits");
  EXPECT_THAT(line("ulimit -v"), None("unknown"));
}

TEST_F(FakeMachine, LittleSpace) {
  shared = {64 << 20, 64 << 20};
  disk = {100 << 20, kGiB};
  EXPECT_THAT(line("/dev/shm"), Warns("64 MiB of 64 MiB free", "--shm-size"));
  EXPECT_THAT(line("disk"), Warns("100 MiB of 1.0 GiB free", "--max-size"));
}

}  // namespace
}  // namespace fade::doctor
