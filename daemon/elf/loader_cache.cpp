#include "elf/loader_cache.hpp"

#include <cstdint>
#include <cstring>

namespace fade::elf {
namespace {

// glibc's sysdeps/generic/dl-cache.h. Offsets of texts count from the header.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeader = 48, kMostCached = 100'000, kLongestPath = 4096;
constexpr std::uint32_t kForX86_64 = 0x0303;  // FLAG_X8664_LIB64 and FLAG_ELF_LIBC6

struct CacheEntry {
  std::uint32_t flags, name, path, os_version;
  std::uint64_t capabilities;
};
static_assert(sizeof(CacheEntry) == 24);

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T out{};
  if (at <= bytes.size() && sizeof out <= bytes.size() - at) std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

std::string cached_text(std::string_view bytes, std::uint32_t at) {
  if (at >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(at, kLongestPath);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

std::vector<CachedLibrary> read_loader_cache(std::string_view bytes) {
  std::vector<CachedLibrary> out;
  const auto start = bytes.find(kMagic);  // a table in an older form may stand before it
  if (start == bytes.npos) return out;
  bytes.remove_prefix(start);
  const auto count = value_at<std::uint32_t>(bytes, kMagic.size());
  for (std::size_t i = 0; i < count && i < kMostCached; ++i) {
    if (kHeader + (i + 1) * sizeof(CacheEntry) > bytes.size()) break;
    const auto entry = value_at<CacheEntry>(bytes, kHeader + i * sizeof(CacheEntry));
    if (entry.flags == kForX86_64) out.push_back({cached_text(bytes, entry.name), cached_text(bytes, entry.path)});
  }
  return out;
}

}  // namespace fade::elf
