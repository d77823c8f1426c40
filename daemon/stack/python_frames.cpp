#include "stack/python_frames.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "stack/python_bytes.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxFrameSize = 256;  // bytes read of a frame
constexpr std::uint64_t kMaxWindow = 128 * 1024;
constexpr std::uint64_t kUsualChunk = 16 * 1024;
constexpr std::size_t kMaxChunks = 64;  // passed on the way from one frame to the next
constexpr std::size_t kMaxOthers = 12;
constexpr std::int64_t kMaxBytecode = 1 << 28;
constexpr std::uint8_t kOwnedByThread = 0, kOwnedByGenerator = 1;

// _PyStackChunk, the same in 3.11 to 3.15.
struct ChunkHeader {
  std::uint64_t previous, size, top;
};

std::uint64_t chunk_size(RemoteAddr chunk, const Memory& memory) {
  const auto header = memory.value<ChunkHeader>(chunk);
  return header ? header->size : 0;
}

}  // namespace

RemoteAddr PythonFrames::innermost(const PythonThread& thread, const Memory& memory, StackEvidence* evidence) const {
  const std::uint64_t frame = thread.word(layout_.thread_frame);
  if (evidence) evidence->word(thread.state + layout_.thread_frame, frame);
  if (layout_.cframe_frame == PythonLayout::kNone || !plausible(frame)) return {frame};
  const RemoteAddr at = RemoteAddr{frame} + layout_.cframe_frame;
  const auto innermost = memory.value<std::uint64_t>(at);
  if (evidence && innermost) evidence->word(at, *innermost);
  if (evidence && !innermost) evidence->give_up();
  return {innermost.value_or(0)};
}

PythonFrames::Raw PythonFrames::decode(std::span<const std::byte> bytes) const {
  const auto reference = bytes_at<std::uint64_t>(bytes, layout_.frame_code);
  return {.reference = reference,
          .code = reference & layout_.object_mask,
          .previous = bytes_at<std::uint64_t>(bytes, layout_.frame_previous),
          .instruction = bytes_at<std::uint64_t>(bytes, layout_.frame_instruction),
          .owner = bytes_at<std::uint8_t>(bytes, layout_.frame_owner),
          .is_entry = bytes_at<std::uint8_t>(bytes, layout_.frame_is_entry),
          .generator = layout_.frame_generator == PythonLayout::kNone
                           ? bytes_at<std::uint8_t>(bytes, layout_.frame_owner) == kOwnedByGenerator
                           : bytes_at<std::uint64_t>(bytes, layout_.frame_generator) != 0};
}

void PythonFrames::keep(RemoteRange other) {
  if (other.size() > 0 && others_.size() < kMaxOthers) others_.push_back(other);
}

// Reads the chunk up to the frame's end, if the frame is in the chunk: callers' frames are below.
void PythonFrames::widen(RemoteAddr frame, const Memory& memory) {
  const std::uint64_t size = layout_.frame_size();
  if (!chunk_ || frame <= chunk_) return;
  if (frame - chunk_ >= kUsualChunk && frame - chunk_ >= chunk_size(chunk_, memory)) return;
  const std::uint64_t whole = frame + size - chunk_;
  const std::uint64_t skipped = whole > kMaxWindow ? whole - kMaxWindow : 0;
  keep(window());
  window_.resize(whole - skipped);
  begin_ = chunk_ + skipped;
  window_.resize(memory.read(begin_, window_));
}

// Chunks are a list, the newest first. A frame outside all chunks is on the heap or on the C stack.
void PythonFrames::next_chunk(RemoteAddr frame, const Memory& memory) {
  RemoteAddr chunk = chunk_;
  for (std::size_t n = 0; n < kMaxChunks && plausible(chunk.value); ++n) {
    const auto header = memory.value<ChunkHeader>(chunk);
    if (!header) return;
    if (frame > chunk && frame - chunk < header->size) {
      chunk_ = chunk;
      return;
    }
    chunk = {header->previous};
  }
}

std::optional<PythonFrames::Raw> PythonFrames::read(RemoteAddr frame, const Memory& memory) {
  const std::size_t size = layout_.frame_size();
  const auto from_window = [&]() -> std::optional<Raw> {
    if (frame < begin_ || frame - begin_ + size > window_.size()) return std::nullopt;
    return decode(std::span(window_).subspan(frame - begin_, size));
  };
  if (auto raw = from_window()) return raw;
  std::array<std::byte, kMaxFrameSize> buffer;
  if (size > buffer.size() || !memory.read_exactly(frame, std::span(buffer).first(size))) return std::nullopt;
  const Raw raw = decode(std::span(buffer).first(size));
  keep({frame, frame + size});
  if (layout_.chunk != PythonLayout::kNone && raw.owner == kOwnedByThread) {
    next_chunk(frame, memory);
    widen(frame, memory);
  }
  return raw;
}

PythonFrame PythonFrames::frame(const Raw& raw) const {
  PythonFrame out{.code = raw.code,
                  .instruction = -1,
                  .entry = layout_.entry == PythonLayout::Entry::EveryFrame,
                  .generator = raw.generator};
  if (layout_.entry == PythonLayout::Entry::Flag) out.entry = raw.is_entry != 0;
  const std::int64_t byte = layout_.instruction == PythonLayout::Instruction::Index
                                ? std::int64_t{static_cast<std::int32_t>(raw.instruction)} * 2
                                : static_cast<std::int64_t>(raw.instruction - (raw.code + layout_.bytecode));
  if (byte >= 0 && byte < kMaxBytecode) out.instruction = static_cast<std::int32_t>(byte);
  return out;
}

// A shim is a frame between two runs of the evaluation loop. Returns false if `raw` is not a shim.
bool PythonFrames::take_shim(const Raw& raw, std::vector<PythonFrame>& out) const {
  if (layout_.entry != PythonLayout::Entry::Shim || raw.owner < PythonLayout::kFirstShimOwner) return false;
  if (!out.empty() && !out.back().entry) out.back().entry = true;
  else if (raw.previous != 0 || !layout_.has_base_frame) out.push_back({.code = 0, .instruction = -1, .entry = true});
  return true;
}

void PythonFrames::rest_on(RemoteAddr frame, const Raw& raw, StackEvidence& evidence) const {
  evidence.word(frame + layout_.frame_instruction, raw.instruction,
                layout_.instruction == PythonLayout::Instruction::Index ? 4 : 8);
  evidence.word(frame + layout_.frame_code, raw.reference);
  evidence.word(frame + layout_.frame_previous, raw.previous);
  if (layout_.frame_owner != PythonLayout::kNone) evidence.word(frame + layout_.frame_owner, raw.owner, 1);
  if (layout_.frame_is_entry != PythonLayout::kNone) evidence.word(frame + layout_.frame_is_entry, raw.is_entry, 1);
}

std::vector<PythonFrame> PythonFrames::of(const PythonThread& thread, const Memory& memory, std::size_t limit,
                                          const std::function<bool(std::uint64_t)>& is_internal,
                                          StackEvidence* evidence) {
  std::vector<PythonFrame> out;
  window_.clear();
  others_.clear();
  begin_ = {};
  chunk_ = layout_.chunk == PythonLayout::kNone ? RemoteAddr{} : RemoteAddr{thread.word(layout_.chunk)};
  RemoteAddr at = innermost(thread, memory, evidence);
  if (plausible(at.value)) widen(at, memory);
  // A torn list may form a circle, so shims and internal frames count too.
  for (std::size_t looked_at = 0; plausible(at.value) && out.size() < limit && looked_at < 2 * limit + 16;
       ++looked_at) {
    const auto raw = read(at, memory);
    if (evidence && raw) rest_on(at, *raw, *evidence);
    if (evidence && !raw) evidence->give_up();
    if (!raw) break;
    at = {raw->previous};
    if (take_shim(*raw, out)) continue;
    if (!plausible(raw->code)) break;
    if (is_internal(raw->code)) continue;
    out.push_back(frame(*raw));
  }
  return out;
}

}  // namespace fade
