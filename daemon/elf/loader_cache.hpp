// The dynamic loader's cache, /etc/ld.so.cache (ldconfig(8)), in the form that glibc writes since 2.2. Nothing in it is
// trusted. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fade::elf {

struct CachedLibrary {
  std::string name;  // libamdhip64.so.6
  std::string path;
};
// Libraries for 64-bit x86, in the cache's order. Empty: not such a file.
std::vector<CachedLibrary> read_loader_cache(std::string_view bytes);

}  // namespace fade::elf
