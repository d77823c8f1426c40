#include "elf/library_search.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <deque>
#include <memory>
#include <set>

#include "elf/linked_file.hpp"
#include "proc/proc_files.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMostLibraries = 1'024, kLargestCache = 64 << 20;

std::string_view folder_of_file(std::string_view path) { return path.substr(0, path.rfind('/')); }

// A module, and its index in the list of those that requested it.
struct Loaded {
  LinkedFile file;
  std::size_t parent;
};

// The module, its loader, and so on up to the program.
std::vector<const Asker*> chain_of(const std::deque<Loaded>& loaded, std::size_t at) {
  std::vector<const Asker*> out;
  for (;; at = loaded[at].parent) {
    out.push_back(&loaded[at].file.links);
    if (at == 0) return out;
  }
}

}  // namespace

LibrarySearch::LibrarySearch(std::string root, LoaderVariables variables)
    : root_(std::move(root)),
      variables_(std::move(variables)),
      cache_(read_loader_cache(read_bounded(root_ + "/etc/ld.so.cache", kLargestCache).value_or(""))) {}

const std::vector<std::string>& LibrarySearch::usual_folders() {
  static const std::vector<std::string> kFolders{
      "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  return kFolders;
}

std::string LibrarySearch::real_path(const std::string& path) const {
  const std::unique_ptr<char, void (*)(void*)> base(::realpath((root_ + "/").c_str(), nullptr), ::free);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath((root_ + path).c_str(), nullptr), ::free);
  if (!base || !real) return {};
  const std::string_view prefix = base.get();
  const std::string found = real.get();
  return prefix != "/" && found.starts_with(prefix) ? found.substr(prefix.size()) : found;
}

bool LibrarySearch::is_library(const std::string& path) const { return bool(read_linked_file(root_ + path)); }

std::string LibrarySearch::find_in(const std::string& name, const std::vector<std::string>& folders) const {
  for (const std::string& folder : folders)
    if (const std::string path = folder + "/" + name; is_library(path)) return path;
  return {};
}

FoundLibrary LibrarySearch::search(const std::string& name, const std::vector<const Asker*>& chain) const {
  FoundLibrary out{.name = name, .asker = chain.empty() ? "" : chain.front()->path};
  const auto found = [&](std::string path, FoundBy rule) {
    out.path = std::move(path);
    out.rule = rule;
    return !out.path.empty();
  };
  if (name.find('/') != name.npos) {
    found(is_library(name) ? name : "", FoundBy::Path);
    return out;
  }
  const std::string runpath = chain.empty() ? "" : chain.front()->runpath;
  if (runpath.empty())  // a RUNPATH switches off all RPATHs
    for (const Asker* asker : chain)
      if (asker->runpath.empty() &&
          found(find_in(name, folders_of(asker->rpath, folder_of_file(asker->path))), FoundBy::Rpath))
        return out;
  if (found(find_in(name, folders_of(variables_.library_path, {})), FoundBy::LibraryPath)) return out;
  if (!runpath.empty() && found(find_in(name, folders_of(runpath, folder_of_file(out.asker))), FoundBy::Runpath))
    return out;
  for (const CachedLibrary& one : cache_)
    if (one.name == name && is_library(one.path) && found(one.path, FoundBy::System)) return out;
  found(find_in(name, usual_folders()), FoundBy::System);
  return out;
}

FoundLibrary LibrarySearch::find(const std::string& name, const std::vector<const Asker*>& askers) const {
  return search(name, askers);
}

std::vector<FoundLibrary> LibrarySearch::libraries_of(const std::string& program) const {
  std::vector<FoundLibrary> out;
  std::set<std::string> known;  // the loader loads a name once
  std::deque<Loaded> loaded;    // its elements stay in their places
  auto first = read_linked_file(root_ + program, program);
  if (!first) return out;
  loaded.push_back({std::move(*first), 0});
  for (std::size_t at = 0; at < loaded.size(); ++at)
    for (const std::string& name : loaded[at].file.links.needed) {
      if (out.size() >= kMostLibraries || !known.insert(name).second) continue;
      out.push_back(search(name, chain_of(loaded, at)));
      if (out.back().path.empty()) continue;
      auto file = read_linked_file(root_ + out.back().path, out.back().path);
      if (file && !file->soname.empty()) known.insert(file->soname);
      if (file) loaded.push_back({std::move(*file), at});
    }
  return out;
}

}  // namespace fade::elf
