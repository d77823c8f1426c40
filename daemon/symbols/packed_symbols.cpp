#include "symbols/packed_symbols.hpp"

#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/log.hpp"

namespace fade::symbols {
namespace {

constexpr std::uint64_t kMostPacked = 32u << 20, kMostUnpacked = 64u << 20, kMostWorkspace = 128u << 20;

bool write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> packed)
      : ready_(::lzma_stream_decoder(&stream_, kMostWorkspace, 0) == LZMA_OK) {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
  }
  ~Decoder() { ::lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  bool write_to(int fd) {
    std::array<std::uint8_t, 65'536> chunk;
    for (lzma_ret state = LZMA_OK; ready_ && state == LZMA_OK && stream_.total_out <= kMostUnpacked;) {
      stream_.next_out = chunk.data();
      stream_.avail_out = chunk.size();
      state = ::lzma_code(&stream_, LZMA_FINISH);
      if (state != LZMA_OK && state != LZMA_STREAM_END) return false;
      if (!write_all(fd, std::span(chunk).first(chunk.size() - stream_.avail_out))) return false;
      if (state == LZMA_STREAM_END) return true;
    }
    return false;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

}  // namespace

std::optional<elf::ElfFile> unpack_symbols(const elf::ElfFile& file) {
  const elf::Section* section = file.section(".gnu_debugdata");
  if (!section || section->size > kMostPacked) return std::nullopt;
  const std::span<const std::byte> packed = file.bytes(*section);
  Fd memory(::memfd_create("fade-symbols", MFD_CLOEXEC));
  if (packed.empty() || !memory || !Decoder(packed).write_to(memory.get())) return std::nullopt;
  auto unpacked = elf::ElfFile::open(std::move(memory), file.name() + " (.gnu_debugdata)");
  if (unpacked) return std::move(*unpacked);
  log::debug("{}", unpacked.error().text());
  return std::nullopt;
}

}  // namespace fade::symbols
