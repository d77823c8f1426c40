// The catalogues of the libraries above HIP, such as rocBLAS and RCCL, and of functions of libc: embedded, and parsed
// only if a word of -e asks for one, because together they have some thousand functions.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "probes/syntax/parser.hpp"

namespace fade::probes {

struct LibraryCatalogue {
  std::string_view file, api, group;
  std::string_view prefix;  // of its functions
  const char *begin, *end;  // the text
};

std::span<const LibraryCatalogue> library_catalogues();
std::vector<std::string_view> library_groups();

// True if a word of `events` is the catalogue's group or api, or a name or pattern that begins like its functions.
// The patterns "*", "hip*" and "cu*" mean the runtimes alone.
bool is_asked_for(const LibraryCatalogue& library, std::string_view events);

// All functions, each of them optional. `under` has the types that the catalogue does not declare.
ParsedFile read_library(const LibraryCatalogue& library, std::shared_ptr<const Types> under);

}  // namespace fade::probes
