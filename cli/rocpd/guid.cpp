#include "cli/rocpd/guid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fade::rocpd {
namespace {

std::uint64_t fnv(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

constexpr std::uint64_t kBasis = 0xCBF29CE484222325u;

}  // namespace

std::int64_t hash_of(std::string_view text) {
  return static_cast<std::int64_t>(fnv(text, kBasis) & 0x7FFFFFFFFFFFFFFFu);
}

std::string guid_of(std::int64_t epoch_ns, std::string_view facts) {
  const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(epoch_ns, 0)) / 1'000'000;
  const std::uint64_t a = fnv(facts, kBasis), b = fnv(facts, a);
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}", (ms >> 16) & 0xFFFFFFFFu, ms & 0xFFFF, a & 0xFFF,
                     0x8000 | (b >> 50), b & 0xFFFFFFFFFFFFu);
}

std::string suffix_of(std::string guid) {
  std::ranges::replace(guid, '-', '_');
  return "_" + guid;
}

}  // namespace fade::rocpd
