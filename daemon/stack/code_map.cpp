#include "stack/code_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostImage = 64 * 1024;  // of a vDSO: it has two pages
constexpr std::string_view kVdso = "[vdso]";

}  // namespace

std::uint64_t CodeMap::next_generation() {
  static std::uint64_t last = 0;  // tracing thread only
  return ++last;
}

// The slot of `pc`, or the free slot for it. There is always a free slot.
std::size_t CodeMap::slot(std::uint64_t pc) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = (pc * 0x9E37'79B9'7F4A'7C15U >> 32) & mask;
  while (places_[at].pc != pc && places_[at].pc != 0) at = (at + 1) & mask;
  return at;
}

void CodeMap::grow() {
  std::vector<Place> old = std::exchange(places_, {});
  const bool is_full = old.size() >= kMostSlots;  // the target decides the number: begin again
  places_.resize(is_full ? kFirstSize : old.size() * 2);
  if (is_full) used_ = 0;
  else
    for (const Place& place : old)
      if (place.pc != 0) places_[slot(place.pc)] = place;
}

// The call frame address is %rbp + 16; below it are the return address and the caller's %rbp.
FrameRule CodeMap::own_frame_rule() {
  FrameRule out{
      .kind = FrameRule::Kind::Offsets, .cfa_register = FrameRegisters::kRbp, .cfa_offset = 16, .return_at = -8};
  static_assert(FrameRegisters::kSaved[1] == FrameRegisters::kRbp);
  out.saved = 1 << 1;
  out.saved_at[1] = -16;
  return out;
}

const CodeMap::Place& CodeMap::add(RemoteAddr pc, Tid thread) {
  static constexpr Place kNowhere;
  if (!pc) return kNowhere;
  if (used_ * 2 >= places_.size()) grow();
  Place place{.pc = pc.value, .code = code_at(pc, thread), .rule = {}};
  if (place.code != 0) {
    Code& code = codes_[place.code - 1];
    open(code, thread);
    if (code.file) place.rule = code.file->rule(pc.value - code.bias);
  }
  if (place.code == 0 && is_own_frame(pc)) place.rule = own_frame_rule();
  ++used_;
  return places_[slot(pc.value)] = place;
}

bool CodeMap::step(const Place& place, FrameRegisters& frame, const Memory& memory) {
  if (place.code == 0 || !codes_[place.code - 1].file) return false;
  const Code& code = codes_[place.code - 1];
  return code.file->step(place.pc - code.bias, frame, memory);
}

void CodeMap::read_maps(Tid thread) {
  codes_.clear();
  generated_.clear();
  is_read_ = true;
  const auto maps = elf::read_maps(thread);
  if (!maps) return;
  for (const elf::Mapping& mapping : maps->all())
    if (mapping.executable && (mapping.has_file() || mapping.path == kVdso))
      codes_.push_back({.range = mapping.range, .mapping = mapping});
  read_generated(*maps);
}

void CodeMap::read_generated(const elf::Maps& maps) {
  generated_.clear();
  for (const elf::Mapping& mapping : maps.all())
    if (mapping.executable && !mapping.has_file()) generated_.push_back(mapping.range);
}

bool CodeMap::is_generated(RemoteAddr pc) const {
  const auto it = std::ranges::upper_bound(generated_, pc, {}, &RemoteRange::begin);
  return it != generated_.begin() && std::prev(it)->contains(pc);
}

bool CodeMap::is_code(RemoteAddr pc, Tid thread) {
  if (!is_read_) read_maps(thread);
  if (is_known_code(pc)) return true;
  if (looks_ == kMostLooks) return false;
  ++looks_;
  if (const auto maps = elf::read_maps(thread)) read_generated(*maps);
  return is_known_code(pc);
}

const CodeMap::Code* CodeMap::find(RemoteAddr pc) const {
  const auto it = std::ranges::upper_bound(codes_, pc, {}, [](const Code& code) { return code.range.begin; });
  return it != codes_.begin() && std::prev(it)->range.contains(pc) ? &*std::prev(it) : nullptr;
}

std::uint32_t CodeMap::code_at(RemoteAddr pc, Tid thread) {
  if (!is_read_) read_maps(thread);
  const Code* code = find(pc);
  return code ? static_cast<std::uint32_t>(code - codes_.data()) + 1 : 0;
}

Result<std::shared_ptr<CodeFile>> CodeMap::file_of(const Code& code, Tid thread) {
  if (code.mapping.has_file()) return files_.of(thread, code.mapping);
  std::vector<std::byte> image(std::min<std::size_t>(code.range.size(), kMostImage));
  image.resize(memory_.read(code.range.begin, image));
  return CodeFile::of_image(std::move(image), code.mapping.path);
}

void CodeMap::open(Code& code, Tid thread) {
  if (code.file || !code.problem.empty()) return;
  auto file = file_of(code, thread);
  if (!file) {
    code.problem = file.error().text();
    return;
  }
  const auto bias = (*file)->bias(code.range.begin, code.mapping.offset);
  if (!bias) {
    code.problem = "not what is mapped";
    return;
  }
  code.bias = *bias;
  code.file = std::move(*file);
}

bool CodeMap::is_executable(RemoteAddr pc, Tid thread) {
  const auto maps = elf::read_maps(thread);
  const elf::Mapping* mapping = maps ? maps->find(pc) : nullptr;
  return !maps || (mapping && mapping->executable);
}

std::string CodeMap::why_missing(RemoteAddr pc) const {
  const Code* code = find(pc);
  if (!code)
    return pc.value >> 47 == 0 ? "no unwind information in generated code"
                               : "no code can be at that address: the stack is damaged";
  const std::string& path = code->mapping.path;
  return fmt::format("{} {}", code->file ? "no unwind information in" : "cannot read", base_name(path));
}

void CodeMap::changed() {
  places_.assign(kFirstSize, {});
  used_ = 0;
  codes_.clear();
  generated_.clear();
  looks_ = 0;
  is_read_ = false;
  generation_ = next_generation();
}

}  // namespace fade
