#include "elf/code_image.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "elf/notes.hpp"
#include "elf/packed_image.hpp"

namespace fade::elf {
namespace {

constexpr std::uint16_t kAmdGpu = 224;       // EM_AMDGPU
constexpr std::uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA, code objects of version 3 and later
constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__", kPacked = "CCOB";
constexpr std::size_t kMostImageHeaders = 64, kMostEntries = 1024, kMostTriple = 256, kMostNotes = 32u << 20;
constexpr std::uint64_t kImageAlignment = 4096;    // of images in .hip_fatbin
constexpr std::uint64_t kMostCarried = 16u << 20;  // bytes of a compressed image that are stored with a call
constexpr CodeLimits kCarriedLimits{.objects = 64, .bytes = 64u << 20, .unpacked = 512u << 20};

bool begins_with(const Memory& memory, RemoteAddr at, std::string_view magic) {
  std::array<char, 24> bytes{};
  const auto into = std::as_writable_bytes(std::span(bytes).first(magic.size()));
  return memory.read_exactly(at, into) && std::string_view(bytes.data(), magic.size()) == magic;
}

CodeObject failed(std::string arch, std::string_view problem) {
  return {std::move(arch), {}, std::string(problem), {}};
}

CodeObject read_elf(const Memory& memory, RemoteAddr at, std::string arch, std::size_t most_bytes) {
  const auto header = memory.value<Elf64_Ehdr>(at);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return failed(std::move(arch), "not a code object");
  if (header->e_machine != kAmdGpu || header->e_phentsize != sizeof(Elf64_Phdr))
    return failed(std::move(arch), "not a code object of AMD's");
  for (std::size_t i = 0; i < std::min<std::size_t>(header->e_phnum, kMostImageHeaders); ++i) {
    const auto segment = memory.value<Elf64_Phdr>(at + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE) continue;
    if (segment->p_filesz > std::min(most_bytes, kMostNotes))
      return failed(std::move(arch), "its description is too large to be read");
    std::vector<std::byte> notes(segment->p_filesz);
    notes.resize(memory.read(at + segment->p_offset, notes));
    if (const auto note = find_note(notes, 4, "AMDGPU", kMetadataNote))
      return {std::move(arch), {note->begin(), note->end()}, {}, read_kernel_modes(memory, at, *header, most_bytes)};
  }
  return failed(std::move(arch), "it does not describe its kernels");
}

struct BundleEntry {
  std::uint64_t offset = 0, size = 0;
  std::string triple;
};

struct Bundle {
  std::vector<BundleEntry> entries;
  std::uint64_t end = 0;  // end of the header and of the entries' contents, from the bundle's begin
};

Bundle read_bundle(const Memory& memory, RemoteAddr at) {
  Bundle out;
  const auto count = memory.value<std::uint64_t>(at + kBundle.size());
  RemoteAddr next = at + kBundle.size() + 8;
  for (std::size_t i = 0; count && i < std::min<std::uint64_t>(*count, kMostEntries); ++i) {
    const auto fixed = memory.value<std::array<std::uint64_t, 3>>(next);
    if (!fixed || (*fixed)[2] > kMostTriple) break;
    BundleEntry entry{(*fixed)[0], (*fixed)[1], std::string((*fixed)[2], '\0')};
    if (!memory.read_exactly(next + sizeof *fixed, std::as_writable_bytes(std::span(entry.triple)))) break;
    next = next + sizeof *fixed + entry.triple.size();
    if (entry.offset + entry.size < entry.offset) break;
    out.end = std::max(out.end, entry.offset + entry.size);
    out.entries.push_back(std::move(entry));
  }
  out.end = std::max(out.end, next - at);
  return out;
}

// The content of one image, and its size.
struct Image {
  std::vector<CodeObject> objects;
  std::uint64_t size = 0;      // bytes; 0: unknown
  std::uint64_t unpacked = 0;  // bytes of the unpacked image
  bool is_image = false;       // false: other data begins there
};

// An ELF file or a bundle. Calls reach(offset) before it reads at an offset; the offsets only grow.
template <class Reach>
Image read_plain(const Memory& memory, RemoteAddr at, const CodeLimits& limits, Reach&& reach) {
  Image out;
  const bool is_elf = begins_with(memory, at, ELFMAG);
  out.is_image = is_elf || begins_with(memory, at, kBundle);
  if (is_elf) out.objects.push_back(read_elf(memory, at, {}, limits.bytes));
  if (is_elf || !out.is_image) return out;
  Bundle bundle = read_bundle(memory, at);
  out.size = bundle.end;
  std::ranges::sort(bundle.entries, {}, &BundleEntry::offset);
  std::size_t left = limits.bytes;
  for (BundleEntry& entry : bundle.entries) {
    if (entry.size == 0 || entry.triple.find("amdgcn") == std::string::npos) continue;  // host code
    if (out.objects.size() == limits.objects) break;
    reach(entry.offset);
    out.objects.push_back(read_elf(memory, at + entry.offset, arch_of(entry.triple), left));
    left -= out.objects.back().metadata.size();
  }
  return out;
}

Image read_packed(const Memory& memory, RemoteAddr at, const PackedHeader& header, const CodeLimits& limits) {
  Image out;
  out.size = header.packed;
  const auto refused = [&out](std::string_view problem) {
    out.objects = {failed({}, problem)};
    return out;
  };
  if (header.size == 0) return refused("compressed in a way that is not known");
  if (header.unpacked > limits.unpacked)
    return refused("left out because it is compressed and too large to be unpacked");
  UnpackedImage inside(memory, at, header);
  Image content = read_plain(inside, {0}, limits, [&](std::uint64_t offset) { inside.forget_before(offset); });
  // Only the end shows its size (version 1), and whether it is damaged instead of empty.
  if (out.size == 0 || content.objects.empty()) inside.forget_before(header.unpacked);
  if (out.size == 0 && inside.problem().empty()) out.size = inside.used();
  out.unpacked = inside.unpacked();
  if (!content.is_image && inside.problem().empty()) return refused("compressed, and no code is inside");
  out.objects = std::move(content.objects);
  if (inside.problem().empty()) return out;
  // this problem is the reason
  std::erase_if(out.objects, [](const CodeObject& object) { return !object.problem.empty(); });
  out.objects.push_back(failed({}, inside.problem()));
  return out;
}

Image read_image(const Memory& memory, RemoteAddr at, const CodeLimits& limits) {
  if (const auto header = read_packed_header(memory, at)) return read_packed(memory, at, *header, limits);
  return read_plain(memory, at, limits, [](std::uint64_t) {});
}

RemoteAddr next_multiple(RemoteAddr section, RemoteAddr at) {
  return section + (at - section + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
}

// Images begin at multiples of 4096. In joined files the next image may follow at a smaller distance.
RemoteAddr next_image(const Memory& memory, RemoteAddr section, RemoteAddr end) {
  const RemoteAddr next = next_multiple(section, end);
  std::string gap(next - end, '\0');
  gap.resize(memory.read(end, std::as_writable_bytes(std::span(gap))));
  return end + std::min({gap.find(kBundle), gap.find(kPacked), next - end});
}

class BytesMemory final : public Memory {
 public:
  explicit BytesMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    if (from.value >= bytes_.size()) return 0;
    const auto found = bytes_.subspan(from.value, std::min(into.size(), bytes_.size() - from.value));
    std::ranges::copy(found, into.begin());
    return found.size();
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<CodeObject> read_code_objects(const Memory& memory, RemoteAddr image, const CodeLimits& limits) {
  return read_image(memory, image, limits).objects;
}

void each_code_object(const Memory& memory, RemoteRange section, const CodeLimits& limits,
                      const std::function<void(CodeObject)>& visit, const std::function<bool()>& is_enough) {
  CodeLimits left = limits;
  for (RemoteAddr at = section.begin; at < section.end && left.objects > 0;) {
    if (is_packed(memory, at) && is_enough()) return;
    Image image = read_image(memory, at, left);
    left.unpacked -= std::min(left.unpacked, image.unpacked);
    for (CodeObject& object : image.objects) {
      left.objects -= std::min<std::size_t>(left.objects, 1);  // a problem may exceed the limit by one
      left.bytes -= object.metadata.size();
      visit(std::move(object));
    }
    if (image.size >= section.end - at) return;
    at = image.size == 0 ? next_multiple(section.begin, at + 1) : next_image(memory, section.begin, at + image.size);
  }
}

bool is_packed(const Memory& memory, RemoteAddr image) { return begins_with(memory, image, kPacked); }

std::vector<std::byte> carry(const Memory& memory, RemoteAddr image) {
  const auto header = read_packed_header(memory, image);
  if (!header) return pack(read_code_objects(memory, image, {}));
  if (header->packed > kMostCarried)
    return pack({failed({}, "left out because it is compressed and too large to be copied while it is loaded")});
  std::vector<std::byte> out(std::min(most_packed(*header), kMostCarried));
  out.resize(memory.read(image, out));
  return out;
}

std::vector<CodeObject> carried(std::span<const std::byte> bytes) {
  const BytesMemory memory(bytes);
  return is_packed(memory, {0}) ? read_code_objects(memory, {0}, kCarriedLimits) : unpack(bytes);
}

}  // namespace fade::elf
