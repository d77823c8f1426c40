#include "probes/copy_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace fade::probes {
namespace {

constexpr int kNewBlocks = 6;            // HIP's version
constexpr std::uint8_t kNoField = 0xff;  // the block has no such field
constexpr int kKindDefault = 4;

struct BlockSide {
  std::uint8_t type, host, device, array;
};

// Offsets of the fields. `word` is the number of bytes of a size.
struct BlockLayout {
  std::string_view name;
  int first_major, last_major;
  BlockSide source, destination;
  std::array<std::uint8_t, 3> extent;
  std::uint8_t word;
};

constexpr int kAnyMajor = std::numeric_limits<int>::max();
constexpr BlockLayout kBlockLayouts[] = {
    {"hip_Memcpy2D", 0, kAnyMajor, {16, 24, 32, 40}, {72, 80, 88, 96}, {112, 120, kNoField}, 8},
    {"HIP_MEMCPY3D", 0, kNewBlocks - 1, {16, 24, 32, 40}, {72, 80, 88, 96}, {112, 116, 120}, 4},
    {"HIP_MEMCPY3D", kNewBlocks, kAnyMajor, {32, 40, 48, 56}, {112, 120, 128, 136}, {160, 168, 176}, 8},
    {"hipMemcpy3DParms", 0, kAnyMajor, {kNoField, kNoField, 32, 0}, {kNoField, kNoField, 96, 64}, {128, 136, 144}, 8},
};

// The meaning of hipMemoryType's numbers.
enum class BlockMemory : std::uint8_t { Other, Host, Device, Array };
struct MemoryNumber {
  std::uint64_t number;
  int first_major, last_major;
  BlockMemory memory;
};
constexpr MemoryNumber kMemories[] = {
    {0, 0, kAnyMajor,
     BlockMemory::Host},  // hipMemoryTypeHost; from 6 on hipMemoryTypeUnregistered, pageable memory of the host
    {1, 0, kNewBlocks - 1, BlockMemory::Device},
    {2, 0, kNewBlocks - 1, BlockMemory::Array},
    {1, kNewBlocks, kAnyMajor, BlockMemory::Host},
    {2, kNewBlocks, kAnyMajor, BlockMemory::Device},
    {10, kNewBlocks, kAnyMajor, BlockMemory::Array},
};

template <class Row>
bool is_of(const Row& row, int major) {
  return row.first_major <= major && major <= row.last_major;
}

class CopyBlockReader {
 public:
  CopyBlockReader(const BlockLayout& layout, std::span<const std::byte> bytes, int major)
      : layout_(layout), bytes_(bytes), major_(major) {}

  CopyBlock read() const {
    CopyBlock out;
    read_side(layout_.source, out.source_side, out.source);
    read_side(layout_.destination, out.destination_side, out.destination);
    out.bytes = product();
    return out;
  }

 private:
  std::uint64_t number(std::uint8_t at, std::size_t size) const {
    std::uint64_t out = 0;
    if (at != kNoField && at + size <= bytes_.size()) std::memcpy(&out, bytes_.data() + at, size);
    return out;
  }
  BlockMemory memory(const BlockSide& side) const {
    if (side.type == kNoField) return number(side.array, 8) != 0 ? BlockMemory::Array : BlockMemory::Other;
    const std::uint64_t type = number(side.type, 4);
    const auto* row =
        std::ranges::find_if(kMemories, [&](const MemoryNumber& m) { return m.number == type && is_of(m, major_); });
    return row == std::end(kMemories) ? BlockMemory::Other : row->memory;
  }
  void read_side(const BlockSide& side, Side& where, std::uint64_t& address) const {
    const BlockMemory kind = memory(side);
    address = number(kind == BlockMemory::Host ? side.host : kind == BlockMemory::Array ? side.array : side.device, 8);
    if (kind != BlockMemory::Other) where = kind == BlockMemory::Host ? Side::Host : Side::Device;
  }
  std::optional<std::uint64_t> product() const {
    std::uint64_t out = 1;
    for (const std::uint8_t at : layout_.extent)
      if (at != kNoField && __builtin_mul_overflow(out, number(at, layout_.word), &out)) return std::nullopt;
    return out;
  }

  const BlockLayout& layout_;
  std::span<const std::byte> bytes_;
  int major_;
};

}  // namespace

int CopyBlock::kind() const {
  if (source_side == Side::Unknown || destination_side == Side::Unknown) return kKindDefault;
  return (source_side == Side::Device ? 2 : 0) + (destination_side == Side::Device ? 1 : 0);
}

std::optional<CopyBlock> copy_block(const Probe& probe, const CallRecord&, Payload payload, int major) {
  if (major <= 0) major = kNewBlocks;
  for (const Parameter& parameter : probe.parameters) {
    const auto* layout = std::ranges::find_if(
        kBlockLayouts, [&](const BlockLayout& l) { return l.name == parameter.pointee.name && is_of(l, major); });
    if (layout == std::end(kBlockLayouts)) continue;
    const auto piece = find_piece(payload, PieceKind::In, index_of(probe, parameter));
    const std::size_t needed = layout->extent[layout->extent[2] == kNoField ? 1 : 2] + std::size_t{layout->word};
    if (!piece || piece->header.unreadable || piece->bytes.size() < needed) return std::nullopt;
    return CopyBlockReader(*layout, piece->bytes, major).read();
  }
  return std::nullopt;
}

}  // namespace fade::probes
