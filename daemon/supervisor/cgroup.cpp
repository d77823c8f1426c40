#include "supervisor/cgroup.hpp"

#include <algorithm>
#include <charconv>

namespace fade {
namespace {

constexpr std::size_t kIdLength = 64;
constexpr std::string_view kHexadecimal = "0123456789abcdef";

// Where a component of the path names a container. "docker-ID.scope", "cri-containerd-ID.scope", "libpod-ID.scope",
// "pod.../ID" and the like need no row: an id is recognised by its digits.
struct NameForm {
  std::string_view before, after;
};
constexpr NameForm kNames[] = {
    {"systemd-nspawn@", ".service"},
    {"machine-", ".scope"},
    {"lxc.payload.", ""},
};
constexpr std::string_view kFoldersOfNames[] = {"lxc", "lxc.payload"};
// Parts of the engines themselves that run in a group of the container's name.
constexpr std::string_view kNotInside[] = {"conmon", "supervisor", "lxc.monitor"};

void add(std::vector<std::string>& to, std::string what) {
  if (std::ranges::find(to, what) == to.end()) to.push_back(std::move(what));
}

// systemd writes characters that a unit's name may not hold as \xHH.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned char code = 0;
    if (text.starts_with("\\x") && text.size() >= 4 &&
        std::from_chars(text.data() + 2, text.data() + 4, code, 16).ptr == text.data() + 4) {
      out += static_cast<char>(code);
      text.remove_prefix(4);
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

void add_ids(std::string_view component, std::vector<std::string>& ids) {
  for (std::size_t at = 0; at < component.size();) {
    const std::size_t begin = std::min(component.find_first_of(kHexadecimal, at), component.size());
    at = std::min(component.find_first_not_of(kHexadecimal, begin), component.size());
    if (at - begin == kIdLength) add(ids, std::string(component.substr(begin, kIdLength)));
  }
}

void add_names(std::string_view component, std::string_view parent, std::vector<std::string>& names) {
  if (std::ranges::find(kFoldersOfNames, parent) != std::end(kFoldersOfNames)) add(names, std::string(component));
  for (const auto& [before, after] : kNames)
    if (component.size() > before.size() + after.size() && component.starts_with(before) && component.ends_with(after))
      add(names, unescaped(component.substr(before.size(), component.size() - before.size() - after.size())));
}

void add_path(std::string_view path, CgroupContainers& out) {
  for (std::string_view parent; !path.empty();) {
    const std::string_view component = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(component.size() + 1, path.size()));
    add_ids(component, out.ids);
    add_names(component, parent, out.names);
    parent = component;
  }
}

}  // namespace

CgroupContainers containers_in(std::string_view cgroup) {
  CgroupContainers out;
  while (!cgroup.empty()) {
    std::string_view line = cgroup.substr(0, cgroup.find('\n'));
    cgroup.remove_prefix(std::min(line.size() + 1, cgroup.size()));
    const std::size_t path = line.find(":/");  // "N:controllers:/path"
    if (path == line.npos) continue;
    line.remove_prefix(path + 1);
    const auto names_it = [line](std::string_view part) { return line.find(part) != line.npos; };
    if (std::ranges::none_of(kNotInside, names_it)) add_path(line, out);
  }
  return out;
}

}  // namespace fade
