#include "elf/debug_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace fade::elf {
namespace {

// The checksum of .gnu_debuglink (CRC-32 of IEEE 802.3), of the whole file.
std::optional<std::uint32_t> checksum(int fd) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320u : 0);
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  std::vector<unsigned char> chunk(1 << 20);
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, chunk.data(), chunk.size(), at);
    if (got < 0) return std::nullopt;
    if (got == 0) return ~crc;
    for (ssize_t i = 0; i < got; ++i) crc = table[(crc ^ chunk[static_cast<std::size_t>(i)]) & 0xff] ^ crc >> 8;
    at += got;
  }
}

std::optional<ElfFile> by_link(const ElfFile& file, const std::string& root) {
  const auto link = file.debug_link();
  const auto slash = file.name().rfind('/');
  if (!link || slash == std::string::npos || file.name()[0] != '/' || file.name().find("/../") != std::string::npos ||
      link->file == "." || link->file == "..")
    return std::nullopt;
  auto found = open_regular(root + file.name().substr(0, slash + 1) + link->file);
  if (!found) return std::nullopt;
  const std::string wanted = file.build_id();
  const bool fits = wanted.empty() ? checksum(found->fd()) == link->crc : found->build_id() == wanted;
  return fits ? std::move(found) : std::nullopt;
}

}  // namespace

std::optional<ElfFile> open_regular(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto file = ElfFile::open(path);
  if (!file) return std::nullopt;
  return std::move(*file);
}

std::optional<ElfFile> debug_file_by_id(const std::string& build_id, const std::string& root) {
  if (build_id.size() < 4) return std::nullopt;
  auto found = open_regular(root + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug");
  return found && found->build_id() == build_id ? std::move(found) : std::nullopt;
}

std::optional<ElfFile> find_debug_file(const ElfFile& file, const std::string& root) {
  if (auto found = debug_file_by_id(file.build_id(), root)) return found;
  return by_link(file, root);
}

}  // namespace fade::elf
