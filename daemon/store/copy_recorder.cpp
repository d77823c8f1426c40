#include "store/copy_recorder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fade::store {

using probes::Kind;
using probes::Role;
using probes::Side;

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
    if (__builtin_mul_overflow(number(piece->bytes, kElementSize, 4), number(piece->bytes, kWidth, 8), &bytes))
      return 0;
    return __builtin_mul_overflow(bytes, rows, &bytes) ? 0 : bytes;
  }
  return 0;
}

// As many as a column holds.
std::int64_t stored_bytes(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
}

std::int64_t address_cell(std::optional<std::uint64_t> address) {
  return address ? static_cast<std::int64_t>(*address) : BatchTable::kNull;
}

}  // namespace

// The same as of(), for a function with all of it in registers.
CopyRecorder::Copy CopyRecorder::Copy::of_words(const RecordedCall& call, const CopyWords& words) {
  const CallRecord& record = call.record;
  Copy out{.kind = copy_kind::kFill,
           .bytes = words.bytes(record),
           .source = words.source(record),
           .destination = words.destination(record)};
  if (call.view.probe.kind == Kind::Set) return out;
  out.kind = words.kind(record).value_or(copy_kind::kDefault);
  out.take_sides_from_kind();
  return out;
}

CopyRecorder::Copy CopyRecorder::Copy::of(const RecordedCall& call) {
  if (call.function.copy.are_known()) return of_words(call, call.function.copy);
  const CallView& view = call.view;
  Copy out{.kind = copy_kind::kFill,
           .bytes = view.bytes().value_or(0),
           .source = view.value(Role::Source),
           .destination = view.value(Role::Destination)};
  if (view.probe.kind == Kind::Set) return out;
  out.kind = view.copy_kind().value_or(copy_kind::kDefault);
  if (const auto block = view.copy_block()) {
    if (out.kind == copy_kind::kDefault) out.kind = block->kind();
    out.bytes = block->bytes.value_or(0);
    out.source = block->source;
    out.destination = block->destination;
    out.source_side = block->source_side;
    out.destination_side = block->destination_side;
  }
  out.take_sides_from_kind();
  return out;
}

void CopyRecorder::Copy::take_sides_from_kind() {
  if (kind < copy_kind::kHostToHost || kind > copy_kind::kDeviceToDevice) return;
  source_side = kind & 2 ? Side::Device : Side::Host;
  destination_side = kind & 1 ? Side::Device : Side::Host;
}

Way CopyRecorder::way_of(ProcessId process, const Copy& copy) const {
  if (copy.kind == copy_kind::kFill) return {copy_kind::kFill, HostSide::None};
  const MemoryLedger& memory = books_.memory;
  const auto place = [&](Side side, std::uint64_t address) {
    if (side == Side::Device) return Place::Device;
    return side == Side::Host ? memory.host_place_of(process, address) : memory.place_of(process, address);
  };
  return store::way_of(copy.kind, place(copy.source_side, copy.source.value_or(0)),
                       place(copy.destination_side, copy.destination.value_or(0)));
}

void CopyRecorder::record(RecordedCall& call) {
  const bool ended = call.returned || (call.record.flags & kUnseen);
  Copy copy = Copy::of(call);
  const bool captured = ended && !call.failed && capture(call, copy);
  const bool done = ended && !call.failed && !captured;
  StreamBook::Stream* stream = streams_.used(call, call.view.value(Role::Stream));
  if (stream) stream->copies += done;
  const Way way = way_of(call.process_id(), copy);
  copy.resolve(way);
  if (done) add_up(call, copy, way);
  last_ = {done, copy, way, stream};
  if (call.record.parent != 0) call.thread.copied_inside = books_.directory.call_row(call.record.parent);
  if (books_.keep.calls && call.has_row() && ended && !captured) write(call, copy, way, stream);
}

std::int64_t CopyRecorder::direction_of(const RecordedCall& call) const {
  Copy copy = Copy::of(call);
  copy.resolve(way_of(call.process_id(), copy));
  return copy.kind;
}

void CopyRecorder::add_up(const RecordedCall& call, const Copy& copy, Way way) {
  const std::int64_t bytes = stored_bytes(copy.bytes);
  books_.rollups.copy(call.process, call.function.row, copy.kind, bytes, call.ns);
  if (copy.kind != copy_kind::kFill) books_.steps.copied(call.process, call.thread.row, bytes);
  if (call.thread.copied_inside == call.call) return;
  books_.copies.add(copied(call, copy, way));
}

Copied CopyRecorder::copied(const RecordedCall& call, const Copy& copy, Way way) {
  return {.process = call.process,
          .function = call.function.row,
          .call = call.call,
          .way = way,
          .bytes = stored_bytes(copy.bytes),
          .ns = call.ns,
          .at = call.at,
          .source = copy.source.value_or(0),
          .destination = copy.destination.value_or(0)};
}

// No copy was made inside of them, and no step is open.
void CopyRecorder::more(const RecordedCall& call, const AlikeCalls& more) {
  if (!last_.done) return;
  const Copied copy = copied(call, last_.copy, last_.way);
  if (last_.stream) last_.stream->copies += more.calls.size();
  books_.rollups.copy(call.process, call.function.row, last_.copy.kind, copy.bytes, more.ns(), more.calls.size());
  books_.copies.add(copy, more);
}

void CopyRecorder::write(const RecordedCall& call, const Copy& copy, Way way, const StreamBook::Stream* stream) {
  books_.copy_rows.add(call.call, copy.kind, stored_bytes(copy.bytes), address_cell(copy.source),
                       address_cell(copy.destination), stream ? stream->row.value() : kNull,
                       way.host == HostSide::None ? BatchTable::kNull : static_cast<std::int64_t>(way.host));
}

GraphCopy CopyRecorder::graph_copy(const RecordedCall& call, Copy copy) const {
  const Way way = way_of(call.process_id(), copy);
  copy.resolve(way);
  return {.function = call.function.row,
          .kind = copy.kind,
          .bytes = stored_bytes(copy.bytes),
          .way = way,
          .source = copy.source.value_or(0),
          .destination = copy.destination.value_or(0)};
}

// True: the copy went into a graph.
bool CopyRecorder::capture(const RecordedCall& call, const Copy& copy) {
  if (!books_.graphs.capturing(call.process_id())) return false;
  const auto stream = call.view.value(Role::Stream);
  if (!stream || !books_.graphs.captures(call.process_id(), *stream)) return false;
  if (call.thread.copied_inside != call.call)
    books_.graphs.capture_copy(call.process_id(), *stream, graph_copy(call, copy));
  return true;
}

GraphCopy CopyRecorder::graph_node(const RecordedCall& call) const {
  Copy copy = Copy::of(call);
  if (call.view.probe.symbol.find("Memset") != std::string::npos) {
    copy.kind = copy_kind::kFill;
    copy.bytes = filled_bytes(call.view);
  }
  return graph_copy(call, copy);
}

void CopyRecorder::graph_launched(const RecordedCall& call, StreamBook::Stream* stream) {
  const std::vector<GraphCopy>* copies = books_.graphs.launched_copies();
  if (!copies || call.failed) return;
  if (stream) stream->copies += copies->size();
  for (const GraphCopy& copy : *copies) {
    books_.rollups.copy(call.process, copy.function, copy.kind, copy.bytes, 0);
    books_.copies.add(
        {call.process, copy.function, call.call, copy.way, copy.bytes, 0, call.at, copy.source, copy.destination});
    if (copy.kind != copy_kind::kFill) books_.steps.copied(call.process, call.thread.row, copy.bytes);
  }
}

}  // namespace fade::store
