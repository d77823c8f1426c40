#include "elf/function_extents.hpp"

#include <elf.h>

#include <algorithm>
#include <array>

#include "elf/remote_array.hpp"

namespace fade::elf {
namespace {

constexpr std::uint64_t kHeaderPage = 4096;
constexpr std::uint64_t kMaxFrameHeaders = 256, kMaxFunctions = 8u << 20;

// LSB, 10.6.2: version, then the encodings of the pointer to .eh_frame, of the count and of the table.
struct HeaderStart {
  std::uint8_t version, frame_encoding, count_encoding, table_encoding;
  std::int32_t frame;
  std::uint32_t count;
};
constexpr std::uint8_t kSigned4FromHere = 0x1b, kUnsigned4 = 0x03, kSigned4FromHeader = 0x3b;

struct Row {
  std::int32_t function, description;  // from the start of the section
};

std::optional<RemoteAddr> find_section(const DynamicImage& image, const Memory& memory) {
  const RemoteAddr file{image.span().begin.value / kHeaderPage * kHeaderPage};
  const auto header = memory.value<Elf64_Ehdr>(file);
  constexpr std::array<unsigned char, 4> kElfMagic{0x7f, 'E', 'L', 'F'};
  if (!header || !std::equal(kElfMagic.begin(), kElfMagic.end(), header->e_ident)) return std::nullopt;
  for (const auto& h : read_array<Elf64_Phdr>(memory, file + header->e_phoff, header->e_phnum, kMaxFrameHeaders))
    if (h.p_type == PT_GNU_EH_FRAME) return RemoteAddr{image.bias() + h.p_vaddr};
  return std::nullopt;
}

}  // namespace

FunctionExtents FunctionExtents::read(const DynamicImage& image, const Memory& memory) {
  FunctionExtents out;
  const auto section = find_section(image, memory);
  const auto start = section ? memory.value<HeaderStart>(*section) : std::nullopt;
  if (!start || start->version != 1 || start->frame_encoding != kSigned4FromHere ||
      start->count_encoding != kUnsigned4 || start->table_encoding != kSigned4FromHeader)
    return out;
  out.end_ = image.span().end.value;
  const std::uint64_t room = image.span().contains(*section) ? (out.end_ - section->value) / sizeof(Row) : 0;
  for (const Row& row :
       read_array<Row>(memory, *section + sizeof *start, std::min<std::uint64_t>(start->count, room), kMaxFunctions))
    out.starts_.push_back(section->value + static_cast<std::uint64_t>(std::int64_t{row.function}));
  if (!std::is_sorted(out.starts_.begin(), out.starts_.end())) std::sort(out.starts_.begin(), out.starts_.end());
  return out;
}

std::optional<RemoteRange> FunctionExtents::at(RemoteAddr address) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), address.value);
  if (next == starts_.begin() || address.value >= end_) return std::nullopt;
  return RemoteRange{{*std::prev(next)}, {next == starts_.end() ? end_ : *next}};
}

}  // namespace fade::elf
