#include "elf/search_path.hpp"

#include <algorithm>
#include <array>

#include "base/glob.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMostFolders = 256;

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::string with_origin(std::string_view folder, std::string_view origin) {
  std::string out(folder);
  for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"})
    if (const auto at = out.find(token); at != out.npos) out.replace(at, token.size(), origin);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out.empty() ? "." : out;
}

// Also searches the subfolders for newer processors, which the loader tries first.
bool is_in(std::string_view opened, std::string_view list, std::string_view asker) {
  if (list.empty()) return false;
  const std::string_view folder = folder_of(opened);
  return std::ranges::any_of(folders_of(list, folder_of(asker)), [&](const std::string& one) {
    return folder == one || folder.starts_with(one + "/glibc-hwcaps/");
  });
}

// LD_PRELOAD is split at colons and spaces, LD_AUDIT at colons.
bool is_listed(std::string_view opened, std::string_view list) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find_first_of(": ", begin), list.size());
    const auto item = list.substr(begin, end - begin);
    if (!item.empty() && (item == opened || item == base_name(opened))) return true;
    begin = end + 1;
  }
  return false;
}

bool needs(const Asker& asker, std::string_view opened) {
  return std::ranges::any_of(asker.needed,
                             [&](const std::string& name) { return name == opened || name == base_name(opened); });
}

bool uses_rpath(const Asker& asker, std::string_view opened) {
  return asker.runpath.empty() && is_in(opened, asker.rpath, asker.path);
}

}  // namespace

std::string_view word_for(FoundBy rule) {
  static constexpr std::array<std::string_view, 8> kWords = {"LD_PRELOAD",      "LD_AUDIT", "its path", "RPATH",
                                                             "LD_LIBRARY_PATH", "RUNPATH",  "system",   "dlopen"};
  return kWords[static_cast<std::size_t>(rule)];
}

std::vector<std::string> folders_of(std::string_view list, std::string_view origin) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size() && !list.empty() && out.size() < kMostFolders;) {
    const std::size_t end = std::min(list.find_first_of(":;", begin), list.size());
    out.push_back(with_origin(list.substr(begin, end - begin), origin));
    begin = end + 1;
  }
  return out;
}

Origin origin_of(std::string_view opened, std::span<const Asker* const> before, const LoaderVariables& variables,
                 bool other_space) {
  if (is_listed(opened, variables.audit) && other_space) return {FoundBy::Audit, nullptr};
  if (is_listed(opened, variables.preload) && !other_space) return {FoundBy::Preload, nullptr};
  const auto found = std::ranges::find_if(before, [&](const Asker* asker) { return needs(*asker, opened); });
  const Asker* asker = found == before.end() ? nullptr : *found;
  if (asker && std::ranges::find(asker->needed, opened) != asker->needed.end()) return {FoundBy::Path, asker};
  if (asker && uses_rpath(*asker, opened)) return {FoundBy::Rpath, asker};
  // The paths of the modules that loaded the asker count too, up to the program's.
  if (!asker || asker->runpath.empty())
    for (const Asker* other : before)
      if (uses_rpath(*other, opened)) return {FoundBy::Rpath, other};
  if (is_in(opened, variables.library_path, {})) return {FoundBy::LibraryPath, asker};
  if (asker) return {is_in(opened, asker->runpath, asker->path) ? FoundBy::Runpath : FoundBy::System, asker};
  for (const Asker* other : before)
    if (is_in(opened, other->runpath, other->path)) return {FoundBy::Runpath, other};
  return {FoundBy::Dlopen, nullptr};
}

}  // namespace fade::elf
