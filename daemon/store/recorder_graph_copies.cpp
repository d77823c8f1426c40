// Copies and fills of graphs. A stream that is captured, or a node, puts them into a graph and copies nothing; each launch of the graph
// does all of them. Their time is not known: the launch returns before they are done. What a later call changes in a node is not followed.
#include <cstring>

#include "store/recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {

// hipMemsetParams: dst, elementSize, height, pitch, value, width.
constexpr std::size_t kElementSize = 8, kHeight = 16, kWidth = 40, kFillSize = 48;

std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data() + at, size);
  return out;
}

std::uint64_t filled_bytes(const CallView& view) {
  for (const probes::Parameter& parameter : view.probe.parameters) {
    if (parameter.pointee.name != "hipMemsetParams") continue;
    const auto piece = view.piece(PieceKind::In, probes::index_of(view.probe, parameter));
    std::uint64_t bytes = 0;
    if (!piece || piece->bytes.size() < kFillSize) return 0;
    const std::uint64_t rows = std::max<std::uint64_t>(number(piece->bytes, kHeight, 8), 1);
    if (__builtin_mul_overflow(number(piece->bytes, kElementSize, 4), number(piece->bytes, kWidth, 8), &bytes)) return 0;
    return __builtin_mul_overflow(bytes, rows, &bytes) ? 0 : bytes;
  }
  return 0;
}

}  // namespace

GraphCopy Recorder::graph_copy(const Now& now, const CopyCall& copy) const {
  return {.function = now.function.row, .kind = copy.kind, .bytes = stored_bytes(copy.bytes), .way = way_of(now.thread.process, copy),
          .source = copy.source.value_or(0), .destination = copy.destination.value_or(0)};
}

// True where the copy went into a graph.
bool Recorder::capture_copy(const Now& now, const CopyCall& copy) {
  if (!graphs_.capturing(now.thread.process)) return false;
  const auto stream = now.view.value(Role::Stream);
  if (!stream || !graphs_.captures(now.thread.process, *stream)) return false;
  if (now.thread.copied_inside != now.call) graphs_.capture_copy(now.thread.process, *stream, graph_copy(now, copy));
  return true;
}

GraphCopy Recorder::copy_node(const Now& now) const {
  CopyCall copy = copy_call(now);
  if (now.view.probe.symbol.find("Memset") != std::string::npos) {
    copy.kind = copy_kind::kFill;
    copy.bytes = filled_bytes(now.view);
  }
  return graph_copy(now, copy);
}

void Recorder::launch_copies(const Now& now, StreamBook::Stream* stream) {
  const std::vector<GraphCopy>* copies = graphs_.launched_copies();
  if (!copies || now.failed) return;
  if (stream) stream->copies += copies->size();
  for (const GraphCopy& copy : *copies) {
    rollups_.copy(now.process, copy.function, copy.kind, copy.bytes, 0);
    copies_.add({now.process, copy.function, now.call, copy.way, copy.bytes, 0, now.at, copy.source, copy.destination});
    if (copy.kind != copy_kind::kFill) steps_.copied(now.process, now.thread.row, copy.bytes);
  }
}

}  // namespace fade::store
