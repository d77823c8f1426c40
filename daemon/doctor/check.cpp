#include "doctor/check.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>

#include "doctor/checks.hpp"

namespace fade::doctor {
namespace {

constexpr Row kRows[] = {
    {"Versions", "fade", fade_version},
    {"Versions", "kernel", kernel_version},
    {"Versions", "ROCm", rocm_version},
    {"Tracing", "ptrace", tracing, kMachine | kProgram},
    {"Tracing", "Yama", yama, kMachine | kProgram},
    {"Tracing", "capability", capability, kMachine},
    {"Tracing", "seccomp", seccomp, kMachine | kProgram},
    {"Tracing", "security", security_module, kMachine | kProgram},
    {"Tracing", "attach", attaching, kProcess},
    {"Tracing", "container", container},
    {"Tracing", "clock", tap_clock},
    {"Program", "file", program_file, kProgram},
    {"Program", "libraries", program_libraries, kProgram},
    {"GPU", "driver", gpu_driver},
    {"GPU", "/dev/kfd", kfd_node},
    {"GPU", "render nodes", render_nodes},
    {"GPU", "topology", topology},
    {"HIP", "copies", hip_copies, kMachine},
    {"HIP", "taken", hip_of_program, kProgram},
    {"HIP", "loaded", hip_of_process, kProcess},
    {"HIP", "libcuda", zluda, kMachine | kProgram},
    {"PyTorch", "PyTorch", torch_build, kProgram},
    {"PyTorch", "targets", torch_targets, kProgram},
    {"PyTorch", "its libraries", torch_libraries, kProgram},
    {"Variables", "visible GPUs", visible_devices},
    {"Variables", "others", other_variables},
    {"Variables", "build", build_variables, kProgram},
    {"Memory and disk", "memory", free_memory},
    {"Memory and disk", "cgroup", group_limit},
    {"Memory and disk", "ulimit -v", address_space_limit},
    {"Memory and disk", "/dev/shm", shared_memory},
    {"Memory and disk", "disk", disk},
};

}  // namespace

std::string_view word_for(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kWords{"ok", "warning", "problem", "-"};
  return kWords[static_cast<std::size_t>(verdict)];
}

std::optional<std::string> Examined::variable(std::string_view name) const {
  if (!environment) return std::nullopt;
  for (const std::string& one : *environment)
    if (one.size() > name.size() && one[name.size()] == '=' && one.starts_with(name))
      return one.substr(name.size() + 1);
  return std::nullopt;
}

bool Examined::exists(const std::string& path) const {
  struct stat ignored {};
  return ::lstat((root + path).c_str(), &ignored) == 0;
}

std::span<const Row> rows() { return kRows; }

std::vector<Line> examine(const Examined& examined) {
  std::vector<Line> out;
  for (const Row& row : rows())
    if ((row.when & examined.kind()) != 0)
      for (Answer& answer : row.find(examined))
        out.push_back({row.group, answer.name.empty() ? std::string(row.name) : std::move(answer.name), answer.verdict,
                       std::move(answer.text), std::move(answer.fix)});
  return out;
}

}  // namespace fade::doctor
