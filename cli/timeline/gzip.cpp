#include "cli/timeline/gzip.hpp"

#include <zlib.h>

#include <array>

namespace fade::timeline {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr int kWindow = 15 + 16, kMemory = 8;  // 16: with the header of gzip

}  // namespace

GzipBytes::GzipBytes(table::Bytes& out) : out_(out), stream_(std::make_unique<z_stream_s>()) {
  const int code = deflateInit2(stream_.get(), Z_BEST_SPEED, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY);
  FADE_CHECK(code == Z_OK);
}

GzipBytes::~GzipBytes() { deflateEnd(stream_.get()); }

Result<void> GzipBytes::write(std::string_view text) {
  pending_ += text;
  if (pending_.size() < kBlock) return {};
  auto done = deflate_all(pending_, Z_NO_FLUSH);
  pending_.clear();
  return done;
}

Result<void> GzipBytes::finish() { return deflate_all(pending_, Z_FINISH); }

Result<void> GzipBytes::deflate_all(std::string_view text, int how) {
  std::array<char, kBlock> block;
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream_->avail_in = static_cast<uInt>(text.size());
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(block.data());
    stream_->avail_out = static_cast<uInt>(block.size());
    deflate(stream_.get(), how);
    if (auto done = out_.write({block.data(), block.size() - stream_->avail_out}); !done) return done;
  } while (stream_->avail_out == 0);
  return {};
}

}  // namespace fade::timeline
