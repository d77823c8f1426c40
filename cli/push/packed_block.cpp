#include "cli/push/packed_block.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/result.hpp"

namespace fade::push {
namespace {

// A checksum of 16 bytes, method, compressed size with this head of 9 bytes, and size. The server is told to leave the
// checksum alone: TCP and TLS have their own.
constexpr std::size_t kChecksum = 16, kHead = 9, kPiece = std::size_t{1} << 18, kLeast = std::size_t{1} << 16;
constexpr char kZstd = '\x90';
// Columns of numbers have a period of 8 bytes. Level 3 finds it: half of the bytes of level 1, in less time.
constexpr int kLevel = 3;

void put(char* to, std::uint32_t value) { std::memcpy(to, &value, sizeof value); }

}  // namespace

Packer::Packer() : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), room_(ZSTD_compressBound(kPiece)) {
  FADE_CHECK(context_);
}

void Packer::pack(std::string_view piece) {
  const std::size_t size =
      ZSTD_compressCCtx(context_.get(), room_.data(), room_.size(), piece.data(), piece.size(), kLevel);
  FADE_CHECK(!ZSTD_isError(size));
  char head[kChecksum + kHead] = {};
  head[kChecksum] = kZstd;
  put(head + kChecksum + 1, static_cast<std::uint32_t>(kHead + size));
  put(head + kChecksum + 5, static_cast<std::uint32_t>(piece.size()));
  out_.append(head, sizeof head).append(room_.data(), size);
}

// A short text waits for the next ones, so that blocks are not small.
void Packer::add(std::string_view text) {
  if (rest_.size() + text.size() < kLeast) {
    rest_ += text;
    return;
  }
  if (!rest_.empty()) pack(rest_);
  rest_.clear();
  for (; text.size() >= kLeast; text.remove_prefix(std::min(text.size(), kPiece))) pack(text.substr(0, kPiece));
  rest_ = text;
}

std::string Packer::take() {
  if (!rest_.empty() || out_.empty()) pack(rest_);
  rest_.clear();
  return std::exchange(out_, {});
}

}  // namespace fade::push
