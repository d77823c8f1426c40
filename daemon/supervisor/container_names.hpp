// From the name of a container to its id, through the files in which the engines keep both: the kernel knows ids only.
#pragma once
#include <set>
#include <string>

#include "base/result.hpp"

namespace fade {

struct NamedContainers {
  std::set<std::string> ids;
  std::string why_none;  // if there are none, a sentence
};

// Docker's and Podman's (also CRI-O's) own files, those of the system and those of the effective user; `root` is a
// prefix of their paths.
NamedContainers containers_named(const std::string& name, const std::string& root);

}  // namespace fade
