#include "supervisor/privilege.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "supervisor/cgroup.hpp"

namespace fade {
namespace {

// Put there by Docker; by Podman and CRI-O's tools; by container managers that know systemd.
constexpr const char* kMarks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};

bool first_process_says_so(const ProcFiles& proc) {
  const std::string environment = proc.read("1/environ");
  return environment.starts_with("container=") ||
         environment.find(std::string_view("\0container=", 11)) != environment.npos;
}

}  // namespace

std::string container_sign(const ProcFiles& proc) {
  struct stat ignored {};
  for (const char* mark : kMarks)
    if (::lstat(proc.path(std::string("self/root") + mark).c_str(), &ignored) == 0)
      return fmt::format("{} exists", mark);
  const CgroupContainers inside = containers_in(proc.read("self/cgroup"));
  if (!inside.ids.empty() || !inside.names.empty()) return "/proc/self/cgroup names one";
  return first_process_says_so(proc) ? "process 1 has the variable container" : "";
}

std::string command_of(const Asker& asker, Pid pid) {
  return asker.program == "fade-run" ? "fade-run ..." : fmt::format("{} {}", asker.program, pid);
}

std::string way_to_privilege(const Asker& asker, Pid pid, const std::string& sign) {
  const std::string command = command_of(asker, pid);
  if (asker.may_gain_ptrace && sign.empty()) return "sudo " + command;
  if (asker.may_gain_ptrace)
    return fmt::format("sudo {}      or from outside:  docker exec -u 0 CONTAINER {}", command, command);
  if (!sign.empty())
    return "start the container with --cap-add=SYS_PTRACE (Kubernetes: kubectl debug --profile=general); or as root on "
           "the "
           "host, with the number that the process has there";
  return fmt::format("in a session that has not given CAP_SYS_PTRACE up (systemd: CapabilityBoundingSet=):  sudo {}",
                     command);
}

}  // namespace fade
