#include "elf/offload_targets.hpp"

#include <unistd.h>

#include <set>
#include <span>

#include "base/remote.hpp"
#include "elf/code_image.hpp"

namespace fade::elf {
namespace {

constexpr CodeLimits kFirstImages{.objects = 64, .bytes = 64u << 20, .unpacked = 256u << 20};

// Addresses are offsets in the file.
class FileMemory final : public Memory {
 public:
  explicit FileMemory(int fd) : fd_(fd) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(from.value));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }

 private:
  int fd_;
};

}  // namespace

std::vector<std::string> offload_targets(const ElfFile& file) {
  const Section* code = file.section(".hip_fatbin");
  if (!code) return {};
  const FileMemory memory(file.fd());
  const RemoteAddr begin{code->offset};
  std::set<std::string> out;
  each_code_object(
      memory, {begin, begin + code->size}, kFirstImages, [&](const CodeObject& object) { out.insert(object.arch); },
      [&] { return !out.empty(); });
  out.erase("");
  return {out.begin(), out.end()};
}

}  // namespace fade::elf
