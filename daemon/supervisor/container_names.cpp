#include "supervisor/container_names.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "proc/proc_files.hpp"

namespace fade {
namespace {

using nlohmann::json;
using Found = std::function<void(const std::string& id, const std::string& name)>;

constexpr std::size_t kMostOfARegistry = 64 << 20;  // Podman keeps all containers in one

std::string text_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// config.v2.json: {"ID": "...", "Name": "/web", ...}, one file per container.
void read_docker(const json& file, const Found& found) {
  const std::string name = file.is_object() ? text_of(file, "Name") : "";
  if (name.starts_with('/')) found(text_of(file, "ID"), name.substr(1));
}

// containers.json: [{"id": "...", "names": ["web"], ...}, ...]
void read_storage(const json& file, const Found& found) {
  if (!file.is_array()) return;
  for (const json& one : file) {
    const auto names = one.is_object() ? one.find("names") : one.end();
    if (names == one.end() || !names->is_array()) continue;
    for (const json& name : *names)
      if (name.is_string()) found(text_of(one, "id"), name.get<std::string>());
  }
}

struct Place {
  const char* folder;  // ~: of the user
  const char* files;   // in it; * is any name
  void (*read)(const json& file, const Found& found);
};
constexpr Place kPlaces[] = {
    {"/var/lib/docker/containers", "*/config.v2.json", read_docker},
    {"/var/snap/docker/common/var-lib-docker/containers", "*/config.v2.json", read_docker},
    {"~/.local/share/docker/containers", "*/config.v2.json", read_docker},
    {"/var/lib/containers/storage", "*-containers/*containers.json", read_storage},
    {"~/.local/share/containers/storage", "*-containers/*containers.json", read_storage},
};

std::string home() {
  std::array<char, 4096> buffer;
  passwd entry{}, *found = nullptr;
  return ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found ? entry.pw_dir : "";
}

std::string full_path(const Place& place, const std::string& root) {
  const std::string folder = place.folder;
  return root + (folder.starts_with('~') ? home() + folder.substr(1) : folder);
}

void read_place(const Place& place, const std::string& folder, const Found& found) {
  glob_t files{};
  if (::glob((folder + "/" + place.files).c_str(), 0, nullptr, &files) == 0)
    for (std::size_t i = 0; i < files.gl_pathc; ++i)
      if (const auto text = read_bounded(files.gl_pathv[i], kMostOfARegistry))
        place.read(json::parse(*text, nullptr, false), found);  // invalid JSON gives an empty value
  ::globfree(&files);
}

}  // namespace

NamedContainers containers_named(const std::string& name, const std::string& root) {
  NamedContainers out;
  std::vector<std::string> closed;
  for (const Place& place : kPlaces) {
    const std::string folder = full_path(place, root);
    if (::faccessat(AT_FDCWD, folder.c_str(), R_OK | X_OK, AT_EACCESS) != 0 && errno == EACCES)
      closed.push_back(folder);
    read_place(place, folder, [&](const std::string& id, const std::string& known) {
      if (known == name && !id.empty()) out.ids.insert(id);
    });
  }
  out.why_none =
      closed.empty()
          ? "no process is in a container of that name or id, and no file of Docker or Podman names it"
          : fmt::format("names are kept where we may not read: give the id, or be root ({})", fmt::join(closed, ", "));
  return out;
}

}  // namespace fade
