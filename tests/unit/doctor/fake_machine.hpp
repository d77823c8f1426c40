// A machine in a folder: /proc, /sys, /dev and /etc as the checks of fade doctor read them. It begins healthy: one AMD
// GPU, all rights, no limits. A test breaks one thing.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "doctor/check.hpp"

namespace fade::doctor {

struct FakeMachine : ::testing::Test {
  static constexpr Pid kFade = 5000, kProcess = 42;
  static constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

  Examined x;
  Space shared{8 * kGiB, 8 * kGiB}, disk{100 * kGiB, 200 * kGiB};
  std::optional<int> trace_me = 0;

  ~FakeMachine() override { std::filesystem::remove_all(x.root); }

  void file(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(x.root + path).parent_path());
    std::ofstream(x.root + path, std::ios::binary) << content;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(x.root + path); }
  void mode(const std::string& path, unsigned bits) const {
    std::filesystem::permissions(x.root + path, static_cast<std::filesystem::perms>(bits));
  }
  // A process of another user than the files' owner, in no group of theirs.
  void process(Pid pid, const std::string& more = "Seccomp:\t0\nNoNewPrivs:\t0\n") const {
    const std::string ids = "4242\t4242\t4242\t4242";
    file(fmt::format("/proc/{}/status", pid),
         fmt::format("Name:\tpython3\nState:\tS (sleeping)\nTgid:\t{0}\nPid:\t{0}\nPPid:\t1\nTracerPid:\t0\nUid:\t{1}\n"
                     "Gid:\t{1}\nGroups:\t4242 \nCapPrm:\t0\nCapEff:\t0\n{2}",
                     pid, ids, more));
    file(fmt::format("/proc/{}/cgroup", pid), "0::/user.slice/job\n");
    file(fmt::format("/proc/{}/limits", pid), limits("unlimited"));
    file(fmt::format("/proc/{}/maps", pid), "");
    file(fmt::format("/proc/{}/stat", pid), fmt::format("{} (python3) S 1 1 1 0 -1 0 1 2 3 4 5\n", pid));
    if (!x.exists(fmt::format("/proc/{}/root", pid)))
      std::filesystem::create_directory_symlink("../..", x.root + fmt::format("/proc/{}/root", pid));
  }
  static std::string limits(const std::string& address_space) {
    return fmt::format(
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max address space         {:<20} unlimited            bytes     \n",
        address_space);
  }
  void node(int number, const std::string& uuid = "1") const {
    const std::string folder = fmt::format("/sys/class/kfd/kfd/topology/nodes/{}/", number);
    file(folder + "gpu_id", "1234\n");
    file(folder + "name", "navi21\n");
    file(folder + "properties",
         fmt::format("simd_count 144\nsimd_per_cu 2\ngfx_target_version 100300\nlocation_id 2560\n"
                     "domain 0\nunique_id {}\n",
                     uuid));
  }

  void SetUp() override {
    std::string name = ::testing::TempDir() + "fade-machine-XXXXXX";
    x.root = ::mkdtemp(name.data());
    x.asker = {.pid = kFade, .uid = 4242, .gid = 4242, .may_gain_ptrace = true};
    x.kernel = {.signal = [](Pid) { return ESRCH; },
                .trace_me = [this] { return trace_me; },
                .user_namespace = [](Pid) { return UserNamespace::Same; },
                .security_modules = "capability,yama,apparmor"};
    x.space = [this](const std::string& path) { return std::optional(path.ends_with("/dev/shm") ? shared : disk); };
    x.folder = ".";
    x.environment = {{"PATH=/bin"}};
    process(kFade);
    std::filesystem::create_directory_symlink(std::to_string(kFade.value()), x.root + "/proc/self");
    file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n");
    file("/proc/meminfo", "MemTotal:       32000000 kB\nMemAvailable:   20000000 kB\n");
    file("/proc/sys/kernel/osrelease", "6.8.0\n");
    file("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\n");
    file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    file("/sys/module/amdgpu/version", "6.8.5\n");
    file("/sys/bus/pci/devices/0000:0a:00.0/vendor", "0x1002\n");
    file("/sys/bus/pci/devices/0000:0a:00.0/class", "0x030000\n");
    file("/opt/rocm-6.4.3/.info/version", "6.4.3-128\n");
    file("/dev/kfd", "");
    file("/dev/dri/renderD128", "");
    mode("/dev/kfd", 0666);
    mode("/dev/dri/renderD128", 0666);
    node(1);
  }

  // The lines of that name, in their order.
  std::vector<Line> lines(const std::string& name) const {
    std::vector<Line> out = examine(x);
    std::erase_if(out, [&](const Line& line) { return line.name != name; });
    return out;
  }
  Line line(const std::string& name) const {
    const std::vector<Line> found = lines(name);
    if (found.empty()) ADD_FAILURE() << "no line '" << name << "'";
    return found.empty() ? Line{} : found.front();
  }
};

// A line with that verdict, whose text and fix contain these.
MATCHER_P3(Says, verdict, text, fix,
           fmt::format("{} '{}' (fix: '{}')", word_for(verdict), std::string(text), std::string(fix))) {
  *result_listener << word_for(arg.verdict) << " '" << arg.text << "' (fix: '" << arg.fix << "')";
  return arg.verdict == verdict && arg.text.find(text) != std::string::npos &&
         (std::string(fix).empty() ? arg.fix.empty() : arg.fix.find(fix) != std::string::npos);
}
inline auto Ok(const char* text) { return Says(Verdict::Ok, text, ""); }
inline auto None(const char* text) { return Says(Verdict::None, text, ""); }
inline auto Warns(const char* text, const char* fix) { return Says(Verdict::Warning, text, fix); }
inline auto Refuses(const char* text, const char* fix) { return Says(Verdict::Problem, text, fix); }

}  // namespace fade::doctor
