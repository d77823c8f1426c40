#include "numbers/buffer_scan.hpp"

#include <algorithm>

#include "numbers/guess.hpp"

namespace fade::numbers {
namespace {

constexpr std::uint64_t kChunk = 256 << 10;  // of a whole buffer: it stays in the processor's cache
constexpr std::uint64_t kPiece = 64 << 10;   // of a part
constexpr std::uint64_t kStep = 64;

}  // namespace

void BufferScan::add(std::span<const std::byte> piece, std::uint64_t at) {
  if (rule_.checksum) checksum_.add(piece);
  if (rule_.looks_at_elements()) look(piece, at);
}

// Zeros are no evidence for a type, and there is nothing to find in them.
void BufferScan::look(std::span<const std::byte> piece, std::uint64_t at) {
  if (is_guess() && !has_evidence_) {
    const Guess first = guess(piece);
    has_evidence_ = first.has_evidence;
    type_ = first.type;
  }
  if (is_guess() && !is_float(type_)) return;
  const Found found = scan(type_, rule_.looked, piece, at / size_of(type_));
  // A buffer may have floats at its start and other data behind them.
  if (is_guess() && found.has_any() && guess(piece).type != type_) return;
  found_.add(found);
}

Seen BufferScan::result() const {
  Seen out{.type = type_, .is_guess = is_guess() && type_ != Dtype::Unknown, .found = found_, .checksum = {}};
  if (rule_.checksum) out.checksum = checksum_.value();
  Found& found = out.found;
  // Data that are no floats have NaN with all sorts of bits.
  if (is_guess() && found.odd_nan * 8 > found.nan) return {.type = Dtype::Unknown, .checksum = out.checksum};
  if (is_guess()) found.nan -= found.odd_nan;
  if (!rule_.looked.nan) found.nan = 0;
  if (!rule_.looked.inf) found.inf = 0;
  return out;
}

std::vector<Piece> pieces_of(std::uint64_t bytes, std::uint64_t most) {
  std::vector<Piece> out;
  if (bytes <= most) {
    for (std::uint64_t at = 0; at < bytes; at += kChunk) out.push_back({at, std::min(kChunk, bytes - at)});
    return out;
  }
  const std::uint64_t size = std::min(kPiece, most / kStep * kStep);
  if (size == 0) return {{0, most}};
  const std::uint64_t n = most / size, last = bytes - size;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto at = n == 1 ? 0 : static_cast<std::uint64_t>(static_cast<unsigned __int128>(last) * i / (n - 1));
    out.push_back({at / kStep * kStep, size});
  }
  return out;
}

}  // namespace fade::numbers
