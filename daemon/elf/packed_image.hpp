// Compressed images of code: a bundle that clang packed with zlib or zstd (--offload-compress; magic "CCOB", versions 1
// to 3). They are unpacked from front to end, and only the part in use is kept: a bundle for ten GPUs is ten times as
// large as one of its code objects. The sizes in the image are not trusted. Its hash is not checked, because this would
// mean MD5 of everything.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/remote.hpp"

namespace fade::elf {

struct PackedHeader {
  std::uint16_t version = 0, method = 0;
  std::uint64_t size = 0;      // bytes of the header; 0: unknown version or method
  std::uint64_t packed = 0;    // bytes of the whole image with its header; 0: unknown (version 1)
  std::uint64_t unpacked = 0;  // bytes of the content according to the header
};
// nullopt: no compressed image begins there.
std::optional<PackedHeader> read_packed_header(const Memory& memory, RemoteAddr at);

// The most bytes that the image may have. If the header has no size: the limit that compression cannot exceed.
std::uint64_t most_packed(const PackedHeader& header);

// The content of a compressed image, as memory whose addresses count from 0. Reading unpacks as far as needed: at most
// 64 MB beyond the last forgotten byte, and never more than the header says. Reads `packed` during its whole life.
class UnpackedImage final : public Memory {
 public:
  // `header`: of a known version and method
  UnpackedImage(const Memory& packed, RemoteAddr at, const PackedHeader& header);
  ~UnpackedImage() override;
  UnpackedImage(const UnpackedImage&) = delete;
  UnpackedImage& operator=(const UnpackedImage&) = delete;

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;
  void forget_before(std::uint64_t offset);  // earlier bytes can then no longer be read; unpacks up to the offset

  std::uint64_t unpacked() const;    // bytes so far
  std::uint64_t used() const;        // bytes of the image so far, with its header
  std::string_view problem() const;  // empty: none so far

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace fade::elf
