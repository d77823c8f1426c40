#include "cli/push/packed_block.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/result.hpp"

namespace fade::push {
namespace {

// A checksum of 16 bytes, method, compressed size with this head of 9 bytes, and size. The server is told to leave the
// checksum alone: TCP and TLS have their own.
constexpr std::size_t kChecksum = 16, kHead = 9, kPiece = std::size_t{1} << 20;
constexpr char kZstd = '\x90';
constexpr int kLevel = 1;

void put(char* to, std::uint32_t value) { std::memcpy(to, &value, sizeof value); }

}  // namespace

std::string packed(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4);
  do {
    const std::string_view piece = text.substr(0, kPiece);
    text.remove_prefix(piece.size());
    const std::size_t at = out.size(), room = ZSTD_compressBound(piece.size());
    out.resize(at + kChecksum + kHead + room);
    char* head = out.data() + at + kChecksum;
    const std::size_t size = ZSTD_compress(head + kHead, room, piece.data(), piece.size(), kLevel);
    FADE_CHECK(!ZSTD_isError(size));
    std::fill(out.data() + at, head, '\0');
    head[0] = kZstd;
    put(head + 1, static_cast<std::uint32_t>(kHead + size));
    put(head + 5, static_cast<std::uint32_t>(piece.size()));
    out.resize(at + kChecksum + kHead + size);
  } while (!text.empty());
  return out;
}

}  // namespace fade::push
