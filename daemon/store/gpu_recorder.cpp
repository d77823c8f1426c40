#include "store/gpu_recorder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "probes/hsa_calls.hpp"

namespace fade::store {
namespace {

using probes::HsaCall;
using probes::Role;
namespace hsa = probes::hsa;

std::uint64_t argument_of(const RecordedCall& call, std::size_t index) {
  const CallView& view = call.view;
  return probes::argument(view.probe, view.probe.parameters[index], view.record, view.payload);
}

template <class T>
T load_at(std::span<const std::byte> bytes, std::size_t at) {
  T out{};
  if (at + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

std::span<const std::byte> bytes_given(const RecordedCall& call, std::size_t index, PieceKind kind = PieceKind::Out) {
  const auto piece = call.view.piece(kind, index);
  return piece ? piece->bytes : std::span<const std::byte>();
}

// More than any memory has. A size comes from the program, and sums of sizes must not overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;

std::int64_t capped(std::uint64_t bytes) { return static_cast<std::int64_t>(std::min(bytes, kMostBytes)); }

// A processed packet may have lost its type; only a kernel has an object where a barrier may have a fourth dependency.
std::optional<GpuKind> kind_of_packet(std::span<const std::byte> packet) {
  switch (load_at<std::uint8_t>(packet, 0)) {
    case hsa::kKernelPacket: return GpuKind::Kernel;
    case hsa::kBarrierAnd:
    case hsa::kBarrierOr: return GpuKind::Barrier;
    case hsa::kInvalidPacket: break;
    default: return std::nullopt;
  }
  return load_at<std::uint64_t>(packet, hsa::kObjectAt) != 0 ? GpuKind::Kernel : GpuKind::Barrier;
}

}  // namespace

void GpuRecorder::record(RecordedCall& call) {
  call.wanted = false;
  books_.gpu.watch();
  const bool is_packet = call.function.hsa == HsaCall::Packet;
  if (!call.returned || (!is_packet && call.result != 0)) return;
  switch (call.function.hsa) {
    case HsaCall::None:
    case HsaCall::QueueEnd: return;
    case HsaCall::Packet: return packets(call);
    case HsaCall::Copy: return copy(call, capped(argument_of(call, hsa::kCopySize)), hsa::kCopySignal);
    case HsaCall::RectCopy: {
      const auto box = bytes_given(call, hsa::kRectRange, PieceKind::In);
      const std::uint64_t rows = std::uint64_t{load_at<std::uint32_t>(box, 4)} * load_at<std::uint32_t>(box, 8);
      return copy(call, capped(load_at<std::uint32_t>(box, 0) * rows), hsa::kRectSignal);
    }
    case HsaCall::KernelTime: return told(call, hsa::kSignal, hsa::kKernelTimes, GpuKind::Kernel);
    case HsaCall::CopyTime: return told(call, hsa::kCopySignalAsked, hsa::kCopyTimes, GpuKind::Copy);
    case HsaCall::SymbolByName: return symbol_given(call);
    case HsaCall::SymbolInfo: return symbol_info(call);
    case HsaCall::SystemInfo: return system_info(call);
  }
}

std::shared_ptr<GpuWork> GpuRecorder::new_work(const RecordedCall& call, GpuKind kind) const {
  auto out = std::make_shared<GpuWork>();
  out->process_id = call.process_id();
  out->process = call.process;
  out->placing = call.record.id;
  out->outer = call.record.parent;
  out->call = books_.directory.call_row(call.record.parent);
  out->thread = call.thread.row;
  out->at = call.at;
  out->kind = kind;
  return out;
}

void GpuRecorder::packets(const RecordedCall& call) {
  if (argument_of(call, hsa::kCount) == 0) return;  // no place
  auto bytes = bytes_given(call, hsa::kQueue);
  if (bytes.empty()) return books_.gpu.unread(call.process_id(), call.process, call.record.id, call.at);
  for (; bytes.size() >= hsa::kPacketSize; bytes = bytes.subspan(hsa::kPacketSize))
    packet(call, bytes.first(hsa::kPacketSize));
}

void GpuRecorder::packet(const RecordedCall& call, std::span<const std::byte> bytes) {
  const auto kind = kind_of_packet(bytes);
  if (!kind) return;  // of the vendor's own: it is no work that has a time
  GpuKernels& kernels = books_.gpu.kernels();
  const auto work = new_work(call, *kind);
  work->queue = kernels.queue(call.process_id(), argument_of(call, hsa::kQueue));
  if (*kind == GpuKind::Kernel) {
    work->object = load_at<std::uint64_t>(bytes, hsa::kObjectAt);
    const GpuKernels::Kernel& kernel = kernels.kernel(call.process, call.process_id(), work->object);
    work->kernel = kernel.row;
    work->kind = kernel.kind;
  }
  books_.gpu.work(work, load_at<std::uint64_t>(bytes, hsa::kSignalAt));
}

void GpuRecorder::copy(const RecordedCall& call, std::int64_t bytes, std::size_t signal) {
  const auto work = new_work(call, GpuKind::Copy);
  work->bytes = bytes;
  books_.gpu.work(work, argument_of(call, signal));
}

void GpuRecorder::told(const RecordedCall& call, std::size_t signal, std::size_t times, GpuKind kind) {
  const auto bytes = bytes_given(call, times);
  books_.gpu.told({.asking = call.record.id,
                   .process_id = call.process_id(),
                   .process = call.process,
                   .thread = call.thread.row,
                   .signal = argument_of(call, signal),
                   .start = load_at<std::uint64_t>(bytes, 0),
                   .end = load_at<std::uint64_t>(bytes, 8),
                   .asked = call.at,
                   .kind = kind});
}

// ---------------------------------------------------------------- names and clock

void GpuRecorder::symbol_given(const RecordedCall& call) {
  const CallView& view = call.view;
  const auto name =
      probes::string_argument(view.probe, view.probe.parameters[hsa::kSymbolName], view.record, view.payload);
  const auto symbol = load_at<std::uint64_t>(bytes_given(call, hsa::kSymbolGiven), 0);
  if (name && !name->empty()) books_.gpu.kernels().symbol(call.process_id(), symbol, *name);
}

void GpuRecorder::symbol_info(const RecordedCall& call) {
  if (argument_of(call, hsa::kAttribute) != hsa::kKernelObject) return;
  books_.gpu.kernels().object(call.process, call.process_id(), argument_of(call, hsa::kSymbol),
                              load_at<std::uint64_t>(bytes_given(call, hsa::kValue), 0));
}

void GpuRecorder::system_info(const RecordedCall& call) {
  if (argument_of(call, hsa::kSystemAttribute) == hsa::kTimestampFrequency)
    books_.gpu.frequency(call.process_id(), load_at<std::uint64_t>(bytes_given(call, hsa::kSystemValue), 0));
}

// ---------------------------------------------------------------- the call around

void GpuRecorder::complete_work(const RecordedCall& call) {
  const auto works = books_.gpu.take_of(call.record.id);
  const StreamBook::Stream* stream = streams_.used(call, call.view.value(Role::Stream).value_or(kNullStream));
  const probes::Kind kind = call.view.probe.kind;
  auto bytes = capped(call.view.bytes().value_or(0));
  name_kernel(call, works);
  place(call, works);
  for (const auto& work : works) {
    if (stream) work->stream = stream->row, work->device = stream->device;
    const bool is_kernel = work->kind == GpuKind::Kernel;
    if (is_kernel && kind == probes::Kind::Copy) work->kind = GpuKind::Copy;
    if (is_kernel && kind == probes::Kind::Set) work->kind = GpuKind::Fill;
    const bool moves = work->object != 0 && (work->kind == GpuKind::Copy || work->kind == GpuKind::Fill);
    if (moves) work->bytes = std::exchange(bytes, 0);  // once, however many kernels it takes
    books_.gpu.outer_known(*work);
  }
}

// The times of the call, its step, and the first kernel that the GPU ran for it.
void GpuRecorder::place(const RecordedCall& call, std::span<const std::shared_ptr<GpuWork>> works) {
  const probes::Kind kind = call.view.probe.kind;
  const std::int64_t direction = kind == probes::Kind::Copy ? copies_.direction_of(call) : copy_kind::kUnknown;
  const StepRow step = books_.steps.open_step(call.process, call.thread.row);
  const std::int64_t previous = books_.gpu.placed(call.thread.row, call.end);
  bool is_first = kind != probes::Kind::Copy && kind != probes::Kind::Set;
  for (const auto& work : works) {
    work->entry = call.at;
    work->exit = call.end;
    work->previous = previous;
    work->step = step;
    work->direction = direction;
    if (work->kind != GpuKind::Kernel) continue;
    work->is_first = std::exchange(is_first, false);
  }
}

void GpuRecorder::waited(const RecordedCall& call) {
  if (!books_.gpu.is_watched()) return;
  const probes::Probe& probe = call.view.probe;
  books_.gpu.waited(call.thread.row, {.entry = call.at,
                                      .exit = call.end,
                                      .is_copy = probe.kind == probes::Kind::Copy,
                                      .call = call.call,
                                      .device = device_waited_for(call)});
}

DeviceRow GpuRecorder::device_waited_for(const RecordedCall& call) {
  const StreamBook::Stream* stream = streams_.used(call, call.view.value(Role::Stream));
  if (stream) return stream->device;
  return call.view.probe.symbol == "hipDeviceSynchronize" ? streams_.device_of(call) : DeviceRow(0);
}

// A launch of one kernel tells which one it is, also if that was loaded before fade came.
void GpuRecorder::name_kernel(const RecordedCall& call, std::span<const std::shared_ptr<GpuWork>> works) {
  const auto handle =
      call.view.probe.kind == probes::Kind::Launch ? call.view.value(Role::Kernel) : std::optional<std::uint64_t>();
  const auto is_kernel = [](const auto& work) { return work->object != 0 && work->kind == GpuKind::Kernel; };
  if (!handle || std::ranges::count_if(works, is_kernel) != 1) return;
  const GpuWork& work = **std::ranges::find_if(works, is_kernel);
  GpuKernels& kernels = books_.gpu.kernels();
  GpuKernels::Kernel& kernel = kernels.kernel(call.process, call.process_id(), work.object);
  if (kernel.row == work.kernel && !kernel.is_launched)
    kernels.launched(kernel, books_.kernels.kernel(call.process_id(), *handle, call.call).row);
}

}  // namespace fade::store
