// Small numbers for the libraries that calls come from. Never shrinks: as many as there were paths.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.hpp"

namespace fade::store {

using LibraryId = Id<struct LibraryTag, std::uint32_t>;

class Libraries {
 public:
  static constexpr LibraryId kAll = 0;      // of sums over all libraries
  static constexpr LibraryId kUnknown = 1;  // the call came from memory outside of libraries, or its place is not known

  LibraryId id(const std::string& path) {
    const auto [entry, fresh] = ids_.try_emplace(path, LibraryId::of(static_cast<std::uint32_t>(paths_.size())));
    if (fresh) paths_.push_back(path);
    return entry->second;
  }
  const std::string& path(LibraryId id) const { return paths_[id.value()]; }

 private:
  std::vector<std::string> paths_{"*", ""};
  std::unordered_map<std::string, LibraryId> ids_{{"*", kAll}, {"", kUnknown}};
};

}  // namespace fade::store
