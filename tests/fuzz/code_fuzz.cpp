// Feeds arbitrary bytes to what reads code objects: as an image, as a section of images, as metadata, as what travels
// with a call, and as what is inside of a compressed image. Compressed images are also made here, since chance makes no
// header and no checksum.
#include <algorithm>
#include <cstdlib>

#include "elf/code_image.hpp"
#include "elf/packed_image.hpp"
#include "unit/elf/code_bytes.hpp"

namespace {

class Input final : public fade::Memory {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t read(fade::RemoteAddr from, std::span<std::byte> into) const override {
    if (from.value >= bytes_.size()) return 0;
    const auto rest = bytes_.subspan(from.value);
    const std::size_t n = std::min(rest.size(), into.size());
    std::copy_n(rest.begin(), n, into.begin());
    return n;
  }

 private:
  std::span<const std::byte> bytes_;
};

using namespace fade::elf;

constexpr CodeLimits kLimits{.objects = 64, .bytes = 1u << 20, .unpacked = 1u << 20};

void describe_one(const CodeObject& object) { (void)describe(object); }

void read_image(std::span<const std::byte> bytes) {
  const Input memory(bytes);
  for (const auto& object : read_code_objects(memory, {0}, kLimits)) (void)describe(object);
  each_code_object(memory, {{0}, {bytes.size()}}, kLimits, describe_one, [] { return false; });
  for (const auto& object : carried(carry(memory, {0}))) (void)describe(object);
}

// What comes out is what went in, however it is asked for.
void read_back(const std::string& image, std::string_view content) {
  const Input memory(std::as_bytes(std::span(image)));
  UnpackedImage inside(memory, {0}, *read_packed_header(memory, {0}));
  const std::size_t middle = content.size() / 2;
  std::string found(content.size() - middle, '\0');
  inside.forget_before(middle);
  found.resize(inside.read({middle}, std::as_writable_bytes(std::span(found))));
  if (found != content.substr(middle) || !inside.problem().empty()) std::abort();
}

// The first byte says how; a second image has the input behind its header, in place of compressed data.
void read_packed(std::string_view content) {
  const auto version = static_cast<std::uint16_t>(content[0] % 3 + 1);
  const auto method = content[0] % 2 == 0 ? test::Method::Zlib : test::Method::Zstd;
  content.remove_prefix(1);
  const std::string image = test::packed(version, method, std::string(content));
  read_image(std::as_bytes(std::span(image)));
  read_back(image, content);
  const std::string wild = test::with_header(version, method, 100'000, std::string(content));
  read_image(std::as_bytes(std::span(wild)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_image(bytes);
  (void)decode_metadata(bytes);
  (void)unpack(bytes);
  if (size != 0) read_packed({reinterpret_cast<const char*>(data), size});
  return 0;
}
