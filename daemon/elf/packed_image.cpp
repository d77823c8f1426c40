#include "elf/packed_image.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace fade::elf {

class PackedImageDecoder {
 public:
  virtual ~PackedImageDecoder() = default;
  // Reads from the front of `in` and writes to the front of `out`; both then begin after the used part. Returns false
  // if damaged.
  virtual bool step(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;
};

namespace {

constexpr std::string_view kPackedMagic = "CCOB";
constexpr std::size_t kMostKept = 64u << 20;  // unpacked bytes that are not yet forgotten
constexpr std::size_t kInput = 64u << 10, kOutput = 1u << 20;
constexpr std::uint64_t kMostTimes = 1000;     // code is packed to 1/40 at best; zlib packs zeros to 1/1000
constexpr std::uint64_t kUnasked = 64u << 20;  // below this many bytes the ratio is not checked
constexpr int kMostWindow = 27;                // log2 of zstd's window: clang's own, and zstd's default

// The places of the sizes in the header of each version.
struct HeaderShape {
  std::size_t size, packed_at, unpacked_at, width;  // packed_at 0: the header has no such size
};
constexpr HeaderShape kShapes[] = {{20, 0, 8, 4}, {24, 8, 12, 4}, {32, 8, 16, 8}};

class ZlibDecoder final : public PackedImageDecoder {
 public:
  ZlibDecoder() : ready_(::inflateInit(&stream_) == Z_OK) {}
  ~ZlibDecoder() override { ::inflateEnd(&stream_); }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  bool step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int state = ready_ ? ::inflate(&stream_, Z_NO_FLUSH) : Z_MEM_ERROR;
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR;
  }

 private:
  z_stream stream_{};
  bool ready_;
};

// Decodes frame after frame, as far as the caller needs them.
class ZstdDecoder final : public PackedImageDecoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx(), &::ZSTD_freeDCtx) {
    if (context_) ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindow);
  }

  bool step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    if (!context_) return false;
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t state = ::ZSTD_decompressStream(context_.get(), &to, &from);
    in = in.subspan(from.pos);
    out = out.subspan(to.pos);
    return ::ZSTD_isError(state) == 0;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
};

template <class T>
std::unique_ptr<PackedImageDecoder> make() {
  return std::make_unique<T>();
}
constexpr std::unique_ptr<PackedImageDecoder> (*kMethods[])() = {&make<ZlibDecoder>, &make<ZstdDecoder>};

std::uint64_t field_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint64_t out = 0;
  if (at != 0) std::memcpy(&out, bytes.data() + at, width);
  return out;
}

}  // namespace

std::optional<PackedHeader> read_packed_header(const Memory& memory, RemoteAddr at) {
  std::array<std::byte, std::end(kShapes)[-1].size> bytes{};
  const std::size_t got = memory.read(at, bytes);
  if (got < 8 || std::memcmp(bytes.data(), kPackedMagic.data(), kPackedMagic.size()) != 0) return std::nullopt;
  PackedHeader out;
  std::memcpy(&out.version, bytes.data() + 4, sizeof out.version);
  std::memcpy(&out.method, bytes.data() + 6, sizeof out.method);
  if (out.version == 0 || out.version > std::size(kShapes)) return out;
  const HeaderShape& shape = kShapes[out.version - 1];
  out.packed = field_at(bytes, shape.packed_at, shape.width);
  out.unpacked = field_at(bytes, shape.unpacked_at, shape.width);
  if (got >= shape.size && out.method < std::size(kMethods)) out.size = shape.size;
  return out;
}

std::uint64_t most_packed(const PackedHeader& header) {
  if (header.packed != 0) return header.packed;
  const std::uint64_t content = std::min<std::uint64_t>(header.unpacked, ~0u);  // version 1 has 32 bits for this size
  return header.size + content + content / 128 + 4096;
}

struct UnpackedImage::Stream {
  const Memory& packed;
  RemoteAddr begin, next, end;  // of the image; of the next input; behind its last byte
  std::uint64_t declared;       // bytes of the unpacked image
  std::unique_ptr<PackedImageDecoder> decoder;
  std::vector<std::byte> buffer = std::vector<std::byte>(kInput);
  std::span<const std::byte> in = {};  // part of the buffer that is not yet unpacked
  std::vector<std::byte> kept = {};
  std::uint64_t base = 0;  // offset of the first kept byte
  std::string_view problem = {};

  std::uint64_t unpacked() const { return base + kept.size(); }
  std::uint64_t used() const { return next - begin - in.size(); }
  void refill();
  void unpack_some(std::uint64_t until);
  void unpack(std::uint64_t until) {
    while (unpacked() < until && problem.empty()) unpack_some(until);
  }
};

void UnpackedImage::Stream::refill() {
  const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), end - next);
  const std::size_t got = packed.read(next, std::span(buffer).first(wanted));
  in = std::span(buffer).first(got);
  next = next + got;
}

void UnpackedImage::Stream::unpack_some(std::uint64_t until) {
  if (in.empty()) refill();
  const std::size_t before = kept.size(), input = in.size();
  kept.resize(before + std::min<std::uint64_t>(kOutput, until - unpacked()));
  std::span<std::byte> out = std::span(kept).subspan(before);
  const bool is_whole = decoder->step(in, out);
  kept.resize(kept.size() - out.size());
  const bool is_stuck = kept.size() == before && in.size() == input;  // the input has ended, or other data follows
  if (!is_whole || is_stuck) problem = "compressed, and damaged or cut";
  else if (unpacked() > kUnasked && unpacked() / kMostTimes > used())
    problem = "left out because it is compressed and unpacks to more than 1000 times its size";
}

UnpackedImage::UnpackedImage(const Memory& packed, RemoteAddr at, const PackedHeader& header)
    : stream_(new Stream{.packed = packed,
                         .begin = at,
                         .next = at + header.size,
                         .end = at + std::max(header.size, most_packed(header)),
                         .declared = header.unpacked,
                         .decoder = kMethods[header.method]()}) {}

UnpackedImage::~UnpackedImage() = default;

std::size_t UnpackedImage::read(RemoteAddr from, std::span<std::byte> into) const {
  Stream& s = *stream_;
  const std::uint64_t most = std::min(s.declared, s.base + kMostKept);
  if (from.value < s.base || from.value >= most) return 0;
  const std::uint64_t until = from.value + std::min<std::uint64_t>(into.size(), most - from.value);
  s.unpack(until);
  if (s.unpacked() <= from.value) return 0;
  const std::size_t count = std::min(until, s.unpacked()) - from.value;
  std::copy_n(s.kept.begin() + static_cast<std::ptrdiff_t>(from.value - s.base), count, into.begin());
  return count;
}

void UnpackedImage::forget_before(std::uint64_t offset) {
  Stream& s = *stream_;
  offset = std::min(offset, s.declared);
  if (offset <= s.base) return;
  while (s.unpacked() < offset && s.problem.empty()) {
    s.base = s.unpacked();
    s.kept.clear();
    s.unpack_some(offset);
  }
  const std::size_t gone = std::min(offset, s.unpacked()) - s.base;
  s.kept.erase(s.kept.begin(), s.kept.begin() + static_cast<std::ptrdiff_t>(gone));
  s.base += gone;
}

std::uint64_t UnpackedImage::unpacked() const { return stream_->unpacked(); }
std::uint64_t UnpackedImage::used() const { return stream_->used(); }
std::string_view UnpackedImage::problem() const { return stream_->problem; }

}  // namespace fade::elf
