#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "doctor/checks.hpp"

namespace fade::doctor {
namespace {

constexpr std::size_t kMostOfAFile = 64 << 10;

std::string line_of(const std::string& path, std::string_view begins = {}) {
  std::string text = read_bounded(path, kMostOfAFile).value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with(begins)) return std::string(line.substr(begins.size()));
  }
  return {};
}

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

}  // namespace

Answers fade_version(const Examined&) { return {ok(FADE_VERSION)}; }

Answers kernel_version(const Examined& x) {
  const std::string release = line_of(x.root + "/proc/sys/kernel/osrelease");
  const std::string system = unquoted(line_of(x.root + "/etc/os-release", "PRETTY_NAME="));
  return {ok(fmt::format("{}{}{}", release.empty() ? "unknown" : release, system.empty() ? "" : ", ", system))};
}

// ROCm's packages leave their release in a file; distributions' own packages of HIP do not.
Answers rocm_version(const Examined& x) {
  Answers out;
  std::vector<std::string> folders;
  std::error_code error;
  const std::string places = x.root + "/opt";
  for (std::filesystem::directory_iterator it(places, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("rocm-") && folders.size() < 32)
      folders.push_back(it->path().filename().string());
  if (folders.empty()) folders.emplace_back("rocm");  // else it is a link to one of them
  std::ranges::sort(folders);
  for (const std::string& folder : folders)
    if (const std::string release = line_of(fmt::format("{}/{}/.info/version", places, folder)); !release.empty())
      out.push_back(ok(fmt::format("{} in /opt/{}", release, folder)));
  if (out.empty()) out.push_back(none("no release below /opt/rocm*; a distribution or a wheel may bring HIP"));
  return out;
}

}  // namespace fade::doctor
