#include "session/gpu_nodes.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

namespace fade {
namespace {

constexpr std::size_t kMostNodes = 64, kMostDescriptors = 100'000, kMostLines = 10'000;
constexpr unsigned kReadWrite = 6;
constexpr unsigned kIgnorePermissions = 1;  // CAP_DAC_OVERRIDE, as a bit of CapEff

struct Credentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the first is its own
  bool ignores_permissions = false;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> out;
  for (std::string line; out.size() < kMostLines && std::getline(in, line);) out.push_back(line);
  return out;
}

// The ids that the kernel checks when a file is opened: those for file systems, the last of each four
// (proc_pid_status(5)).
std::optional<Credentials> credentials_of(const std::string& process) {
  Credentials out;
  bool found = false;
  for (const std::string& line : lines_of(process + "/status")) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<unsigned long> ids;
    if (name == "Uid:" || name == "Gid:" || name == "Groups:")
      for (unsigned long id = 0; words >> id;) ids.push_back(id);
    if (name == "Uid:" && ids.size() == 4) found = true, out.uid = static_cast<uid_t>(ids[3]);
    if (name == "Gid:" && ids.size() == 4) out.groups.insert(out.groups.begin(), static_cast<gid_t>(ids[3]));
    if (name == "Groups:")
      for (const unsigned long id : ids) out.groups.push_back(static_cast<gid_t>(id));
    unsigned long long set = 0;
    if (name == "CapEff:" && words >> std::hex >> set) out.ignores_permissions = set >> kIgnorePermissions & 1;
  }
  return found ? std::optional(out) : std::nullopt;
}

bool holds(const std::vector<gid_t>& groups, gid_t gid) { return std::ranges::find(groups, gid) != groups.end(); }

// acl(5) as the kernel gives it out: a version, then entries.
struct AclEntry {
  std::uint16_t tag, allowed;
  std::uint32_t id;
};
constexpr std::uint16_t kUser = 2, kOwningGroup = 4, kGroup = 8, kMask = 16;

std::vector<AclEntry> acl_of(const std::string& path) {
  std::array<char, 4096> bytes;
  const ssize_t n = ::lgetxattr(path.c_str(), "system.posix_acl_access", bytes.data(), bytes.size());
  std::vector<AclEntry> out(n < 4 ? 0 : static_cast<std::size_t>(n - 4) / sizeof(AclEntry));
  if (!out.empty()) std::memcpy(out.data(), bytes.data() + 4, out.size() * sizeof(AclEntry));
  return out;
}

// With an ACL, the group bits of the mode are the mask.
bool allowed_by_acl(const std::vector<AclEntry>& acl, const struct stat& node, const Credentials& who) {
  unsigned mask = 7;
  for (const AclEntry& entry : acl)
    if (entry.tag == kMask) mask = entry.allowed;
  const auto enough = [&](const AclEntry& entry) { return (entry.allowed & mask & kReadWrite) == kReadWrite; };
  for (const AclEntry& entry : acl)
    if (entry.tag == kUser && entry.id == who.uid) return enough(entry);
  bool is_member = false;
  for (const AclEntry& entry : acl) {
    const bool concerns = (entry.tag == kOwningGroup && holds(who.groups, node.st_gid)) ||
                          (entry.tag == kGroup && holds(who.groups, entry.id));
    if (concerns && enough(entry)) return true;
    is_member |= concerns;
  }
  return !is_member && (node.st_mode & kReadWrite) == kReadWrite;
}

bool may_open(const std::string& path, const struct stat& node, const Credentials& who) {
  if (who.ignores_permissions) return true;
  if (node.st_uid == who.uid) return (node.st_mode >> 6 & kReadWrite) == kReadWrite;
  if (const auto acl = acl_of(path); !acl.empty()) return allowed_by_acl(acl, node, who);
  if (holds(who.groups, node.st_gid)) return (node.st_mode >> 3 & kReadWrite) == kReadWrite;
  return (node.st_mode & kReadWrite) == kReadWrite;
}

// By the names of this machine: a file of the process' own root may be anything. Empty: it has no name.
std::string group_name(gid_t gid) {
  const std::string wanted = std::to_string(gid);
  for (const std::string& line : lines_of("/etc/group")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1), third = line.find(':', second + 1);
    if (third != std::string::npos && line.substr(second + 1, third - second - 1) == wanted)
      return line.substr(0, std::min<std::size_t>(first, 64));
  }
  return {};
}

std::string who_words(const Credentials& who) {
  std::string groups;
  for (std::size_t i = 0; i < std::min<std::size_t>(who.groups.size(), 32); ++i)
    groups += (i ? ", " : "") + std::to_string(who.groups[i]);
  return fmt::format("the process has user id {} and groups {}", who.uid, groups.empty() ? "none" : groups);
}

// Names of nodes that the process has open.
std::vector<std::string> open_nodes(const std::string& process) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir((process + "/fd").c_str()), ::closedir);
  for (std::size_t n = 0; dir && n < kMostDescriptors; ++n) {
    const dirent* entry = ::readdir(dir.get());
    if (!entry) break;
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(::dirfd(dir.get()), entry->d_name, target.data(), target.size());
    const std::string_view path(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    const std::size_t at = std::max<std::size_t>(path.rfind("/dev/kfd") + 1, path.rfind("/dev/dri/renderD") + 1);
    if (at > 0) out.emplace_back(path.substr(at - 1));
  }
  return out;
}

std::vector<std::string> node_names(const std::string& root) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir((root + "/dev/dri").c_str()), ::closedir);
  while (const dirent* entry = dir && out.size() < kMostNodes ? ::readdir(dir.get()) : nullptr)
    if (std::string_view(entry->d_name).starts_with("renderD")) out.push_back(std::string("/dev/dri/") + entry->d_name);
  std::ranges::sort(out);
  out.insert(out.begin(), "/dev/kfd");
  return out;
}

GpuNode look_at(const std::string& name, const std::string& process, const Credentials& who, bool is_open) {
  if (is_open) return {"device-open", name + " is open", name};
  const std::string path = process + "/root" + name;
  struct stat node {};
  if (::lstat(path.c_str(), &node) != 0)
    return {"device-missing", name + " does not exist where the process looks", name};
  const std::string group = group_name(node.st_gid);
  const std::string rights = fmt::format("mode {:04o}, user {}, group {}{}", node.st_mode & 07777, node.st_uid,
                                         node.st_gid, group.empty() ? "" : fmt::format(" ({})", group));
  if (may_open(path, node, who))
    return {"device-closed", fmt::format("{} is not open, though its {} would allow it", name, rights), name, rights,
            group.empty() ? std::to_string(node.st_gid) : group};
  return {"device-refused", fmt::format("{} may not be opened by this process: {}; {}", name, rights, who_words(who)),
          name, rights, group.empty() ? std::to_string(node.st_gid) : group};
}

}  // namespace

std::vector<GpuNode> look_at_gpu_nodes(Pid pid, const std::string& proc) {
  const std::string process = fmt::format("{}/{}", proc, pid);
  const auto who = credentials_of(process);
  if (!who) return {};
  const auto open = open_nodes(process);
  std::vector<GpuNode> out;
  for (const std::string& name : node_names(process + "/root"))
    out.push_back(look_at(name, process, *who, std::ranges::find(open, name) != open.end()));
  return out;
}

bool needs_device(const probes::Probe& probe) {
  constexpr std::string_view kGroups[] = {"device", "mem", "copy", "sync", "stream", "event", "kernel", "module"};
  return probe.api == "hip" && !probe.hot && std::ranges::find(kGroups, probe.group) != std::end(kGroups);
}

}  // namespace fade
