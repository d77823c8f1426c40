#include "stack/python_evaluation.hpp"

#include <algorithm>
#include <map>

#include "elf/function_extents.hpp"
#include "elf/remote_array.hpp"
#include "probe/instruction.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kMaxPart = 4u << 20;
constexpr std::size_t kMaxParts = 64;
constexpr std::uint8_t kCallNear = 0xe8;

bool contains(const std::vector<RemoteRange>& parts, RemoteAddr address) {
  return std::any_of(parts.begin(), parts.end(), [&](const RemoteRange& p) { return p.contains(address); });
}

bool in_the_middle(const std::vector<RemoteRange>& parts, RemoteAddr address) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const RemoteRange& p) { return p.contains(address) && p.begin != address; });
}

// The targets of direct jumps in `part` that leave `part`.
std::vector<RemoteAddr> jumps_out_of(RemoteRange part, const Memory& memory) {
  std::vector<RemoteAddr> out;
  const auto code = elf::read_array<std::uint8_t>(memory, part.begin, part.size(), kMaxPart);
  for (std::size_t at = 0; at < code.size();) {
    const auto instruction = decode_instruction(std::span(code).subspan(at));
    at += instruction ? instruction->length : 1u;
    if (!instruction || !instruction->relative_branch) continue;
    if (instruction->map == Instruction::Map::OneByte && instruction->opcode == kCallNear) continue;
    const RemoteAddr target{part.begin.value + at + static_cast<std::uint64_t>(instruction->branch)};
    if (!part.contains(target)) out.push_back(target);
  }
  return out;
}

// A jump to the start of a piece may be a tail call. A part of the function jumps back.
bool jumps_back(RemoteRange piece, const std::vector<RemoteRange>& parts, const Memory& memory) {
  const auto jumps = jumps_out_of(piece, memory);
  return std::any_of(jumps.begin(), jumps.end(), [&](RemoteAddr target) { return in_the_middle(parts, target); });
}

void add_parts_after(RemoteRange part, const elf::FunctionExtents& extents, const Memory& memory,
                     std::vector<RemoteRange>& parts) {
  std::map<RemoteAddr, std::pair<RemoteRange, bool>> pieces;  // by start; true: a jump leads into the middle
  for (const RemoteAddr target : jumps_out_of(part, memory)) {
    const auto piece = extents.at(target);
    if (!piece || piece->size() > kMaxPart || contains(parts, target)) continue;
    auto& entry = pieces.try_emplace(piece->begin, *piece, false).first->second;
    entry.second = entry.second || target != piece->begin;
  }
  for (const auto& [begin, piece] : pieces)
    if (parts.size() < kMaxParts && (piece.second || jumps_back(piece.first, parts, memory)))
      parts.push_back(piece.first);
}

}  // namespace

std::vector<RemoteRange> evaluation_parts(const elf::DynamicImage& image, const Memory& memory) {
  const auto loop = image.lookup("_PyEval_EvalFrameDefault");
  if (!loop || !loop->function) return {};
  const auto extents = elf::FunctionExtents::read(image, memory);
  const RemoteAddr begin = image.address(*loop);
  const auto extent = extents.at(begin);
  const std::uint64_t size = loop->size != 0 ? loop->size : extent ? extent->end - begin : 1;
  std::vector<RemoteRange> parts{{begin, begin + std::min(size, kMaxPart)}};
  for (std::size_t i = 0; i < parts.size() && !extents.empty(); ++i)
    add_parts_after(RemoteRange(parts[i]), extents, memory, parts);
  return parts;
}

}  // namespace fade
