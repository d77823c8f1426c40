// The files that the dynamic loader would take for a program, without running it: the search of ld.so(8). Reads files
// only; folders for newer processors (glibc-hwcaps) are left out. `root` is a prefix of all paths, for tests and
// containers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "elf/loader_cache.hpp"
#include "elf/search_path.hpp"

namespace fade::elf {

struct FoundLibrary {
  std::string name;   // as it is requested: libamdhip64.so.6
  std::string path;   // without the root; empty: not found
  std::string asker;  // the path of the module that requests it
  FoundBy rule = FoundBy::System;
};

class LibrarySearch {
 public:
  LibrarySearch(std::string root, LoaderVariables variables);

  // The libraries that are loaded with the program, in load order; also those that are not found. At most 1,024.
  std::vector<FoundLibrary> libraries_of(const std::string& program) const;
  // The file for a dlopen of `name` by a program. `askers`: the program, with its RPATH or RUNPATH; may be empty.
  FoundLibrary find(const std::string& name, const std::vector<const Asker*>& askers = {}) const;
  // The real path below the root, behind symbolic links; empty: there is no such file.
  std::string real_path(const std::string& path) const;

  const std::vector<CachedLibrary>& cache() const { return cache_; }
  const LoaderVariables& variables() const { return variables_; }
  static const std::vector<std::string>& usual_folders();

 private:
  bool is_library(const std::string& path) const;
  std::string find_in(const std::string& name, const std::vector<std::string>& folders) const;
  FoundLibrary search(const std::string& name, const std::vector<const Asker*>& chain) const;

  std::string root_;
  LoaderVariables variables_;
  std::vector<CachedLibrary> cache_;
};

}  // namespace fade::elf
