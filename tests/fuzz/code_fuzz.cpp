// Feeds arbitrary bytes to what reads code objects: as an image, as a section of images, as metadata, and as what travels with a call.
#include <algorithm>

#include "elf/code_object.hpp"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Input memory(bytes);
  for (const auto& object : fade::elf::read_code_objects(memory, {0}, {})) (void)fade::elf::describe(object);
  fade::elf::each_code_object(memory, {{0}, {size}}, {}, [](const fade::elf::CodeObject& object) { (void)fade::elf::describe(object); });
  (void)fade::elf::decode_metadata(bytes);
  (void)fade::elf::unpack(bytes);
  return 0;
}
