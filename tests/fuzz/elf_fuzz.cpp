// Feeds arbitrary memory to what reads ELF images and the loader's list of a process. The input stands at kBase; its
// first bytes also say where the readers start.
#include <algorithm>
#include <cstring>

#include "elf/dynamic_image.hpp"
#include "elf/import_table.hpp"
#include "elf/link_map.hpp"
#include "elf/maps.hpp"

namespace {

constexpr std::uint64_t kBase = 0x10000;

class InputMemory final : public fade::Memory {
 public:
  explicit InputMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t read(fade::RemoteAddr from, std::span<std::byte> into) const override {
    if (from.value < kBase || from.value - kBase >= bytes_.size()) return 0;
    const auto rest = bytes_.subspan(from.value - kBase);
    const std::size_t n = std::min(rest.size(), into.size());
    std::copy_n(rest.begin(), n, into.begin());
    return n;
  }

 private:
  std::span<const std::byte> bytes_;
};

void read_image(const InputMemory& memory) {
  const auto image = fade::elf::DynamicImage::open(memory, {kBase});
  (void)fade::elf::DynamicImage::open_program(memory, {kBase + 64}, 16);
  (void)fade::elf::find_loader(memory, {kBase});
  if (!image) return;
  (void)image->lookup("hipInit");
  (void)image->lookup("a");
  (void)image->soname();
  (void)image->needed();
  (void)image->build_id();
  (void)image->all_functions();
  (void)image->rpath();
  const auto imports = fade::elf::ImportTable::read(memory, *image, [](std::string_view) { return true; });
  (void)imports.words(memory, image->bias());
}

// Twice, with the memory changed in between as a loader might.
void read_list(std::span<std::byte> bytes) {
  const InputMemory memory(bytes);
  fade::elf::LinkMap map({kBase});
  (void)map.update(memory);
  std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end());
  (void)map.update(memory);
  (void)map.reread(memory);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  read_image(InputMemory(bytes));
  const auto maps = fade::elf::Maps::parse({reinterpret_cast<const char*>(data), size});
  (void)fade::elf::free_gap_near(maps, {{0x400000}, {0x500000}}, 0x10000, 0x10000);
  read_list(bytes);
  return 0;
}
