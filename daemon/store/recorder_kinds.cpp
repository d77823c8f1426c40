// What calls of each kind do to the launch table, the copy table, the ledger, the streams and the devices.
#include <algorithm>
#include <limits>

#include "store/device_facts.hpp"
#include "store/recorder.hpp"

namespace fade::store {

using probes::Kind;
using probes::Role;

namespace {
constexpr std::uint64_t kMostCopied = std::numeric_limits<std::int64_t>::max();
}

// Asked once for each function.
Recorder::Handler Recorder::handler_of(const probes::Probe& probe) {
  struct OfSymbol {
    std::string_view symbol;
    Handler handler;
  };
  static constexpr OfSymbol kOfSymbols[] = {
      {"hipModuleUnload", &Recorder::on_module_unload}, {"hipLibraryUnload", &Recorder::on_module_unload},
      {"hipStreamWaitEvent", &Recorder::on_graph},      {"hipStreamWaitEvent_spt", &Recorder::on_graph},
  };
  struct OfKind {
    Kind kind;
    Handler handler;
  };
  static constexpr OfKind kOfKinds[] = {
      {Kind::Launch, &Recorder::on_launch},
      {Kind::Graph, &Recorder::on_graph},
      {Kind::Event, &Recorder::on_graph},  // events lead a capture into other streams
      {Kind::ModuleLoad, &Recorder::on_module_load},
      {Kind::Copy, &Recorder::on_copy},
      {Kind::Set, &Recorder::on_copy},
      {Kind::StreamCreate, &Recorder::on_stream_create},
      {Kind::StreamDestroy, &Recorder::on_stream_destroy},
      {Kind::Sync, &Recorder::on_sync},
      {Kind::SetDevice, &Recorder::on_set_device},
      {Kind::GetDevice, &Recorder::on_set_device},  // tells as well which one it is
      {Kind::GetFunction, &Recorder::on_kernel_name},
      {Kind::Register, &Recorder::on_kernel_name},
      {Kind::DeviceQuery, &Recorder::on_device_query},
      {Kind::RangePush, &Recorder::on_marker},
      {Kind::RangePop, &Recorder::on_marker},
      {Kind::RangeStart, &Recorder::on_marker},
      {Kind::RangeStop, &Recorder::on_marker},
      {Kind::Mark, &Recorder::on_marker},
  };
  if (const auto* row = std::ranges::find(kOfSymbols, std::string_view(probe.symbol), &OfSymbol::symbol); row != std::end(kOfSymbols)) return row->handler;
  if (const auto* row = std::ranges::find(kOfKinds, probe.kind, &OfKind::kind); row != std::end(kOfKinds)) return row->handler;
  return &Recorder::on_memory;
}

// kUnknownDevice has a row of its own: what is counted for it belongs to the process and to none of its devices.
DeviceRow Recorder::device_of(const Now& now) { return devices_.row(now.process, now.thread.device); }

// A failed call shows no device: there may be none. 0: the process has not used it yet.
DeviceRow Recorder::device_if_known(const Now& now) {
  return now.failed ? devices_.find(now.process, now.thread.device) : device_of(now);
}

Way Recorder::way_of(ProcessId process, const CopyCall& copy) const {
  if (copy.kind == copy_kind::kFill) return {copy_kind::kFill, HostSide::None};
  const auto place = [&](probes::Side side, std::uint64_t address) {
    if (side == probes::Side::Device) return Place::Device;
    return side == probes::Side::Host ? memory_.host_place_of(process, address) : memory_.place_of(process, address);
  };
  return store::way_of(copy.kind, place(copy.source_side, copy.source.value_or(0)), place(copy.destination_side, copy.destination.value_or(0)));
}

std::int64_t Recorder::stored_bytes(std::uint64_t bytes) { return static_cast<std::int64_t>(std::min(bytes, kMostCopied)); }

// Which sides are the host's follows from the kind, where the call or its block of parameters says one.
Recorder::CopyCall Recorder::copy_call(const Now& now) {
  using probes::Side;
  CopyCall out{.kind = copy_kind::kFill, .bytes = now.view.bytes().value_or(0), .source = now.view.value(Role::Source), .destination = now.view.value(Role::Destination)};
  if (now.view.probe.kind == Kind::Set) return out;
  out.kind = now.view.copy_kind().value_or(copy_kind::kDefault);
  if (const auto block = now.view.copy_block()) {
    if (out.kind == copy_kind::kDefault) out.kind = block->kind();
    out.bytes = block->bytes.value_or(0);
    out.source = block->source;
    out.destination = block->destination;
    out.source_side = block->source_side;
    out.destination_side = block->destination_side;
  }
  const bool known = out.kind >= copy_kind::kHostToHost && out.kind <= copy_kind::kDeviceToDevice;
  if (known) out.source_side = out.kind & 2 ? Side::Device : Side::Host;
  if (known) out.destination_side = out.kind & 1 ? Side::Device : Side::Host;
  return out;
}

// A copy that failed, that an exception left or that still runs has copied nothing, and one that went into a
// graph copies when the graph is launched. A copy whose return could not be watched counts.
void Recorder::on_copy(Now& now) {
  const bool ended = now.returned || (now.record.flags & kUnseen);
  const CopyCall copy = copy_call(now);
  const bool captured = ended && !now.failed && capture_copy(now, copy);
  const bool done = ended && !now.failed && !captured;
  const std::int64_t bytes = stored_bytes(copy.bytes);
  StreamBook::Stream* stream = stream_used(now, now.view.value(Role::Stream));
  if (stream) stream->copies += done;
  const Way way = way_of(now.thread.process, copy);
  if (done) rollups_.copy(now.process, now.function.row, copy.kind, bytes, now.ns);
  if (done && copy.kind != copy_kind::kFill) steps_.copied(now.process, now.thread.row, bytes);
  if (done && now.thread.copied_inside != now.call)
    copies_.add({now.process, now.function.row, now.call, way, bytes, now.ns, now.at, copy.source.value_or(0), copy.destination.value_or(0)});
  if (now.record.parent != 0) now.thread.copied_inside = directory_.call_row(now.record.parent);
  if (!keep_.calls || !ended || captured) return;
  const auto cell = [](std::optional<std::uint64_t> address) { return address ? static_cast<std::int64_t>(*address) : kNull; };
  copy_rows_.add(now.call, copy.kind, bytes, cell(copy.source), cell(copy.destination), stream ? stream->row : kNull,
                 way.host == HostSide::None ? kNull : static_cast<std::int64_t>(way.host));
}

void Recorder::on_sync(Now& now) { stream_of(now, &StreamBook::Stream::syncs); }

void Recorder::on_set_device(Now& now) {
  const auto device = now.view.value(Role::Device);
  if (now.failed || !now.returned || !device) return;
  const auto current = static_cast<std::int32_t>(*device);
  if (keep_.calls && (!now.thread.device_told || current != now.thread.device)) thread_device_(now.thread.row, now.call, current);
  now.thread.device_told = true;
  now.thread.device = current;
}

void Recorder::on_device_query(Now& now) {
  on_memory(now);
  if (now.failed || !now.returned) return;
  if (!tells_device_facts(now.view.probe)) return nvml_.told({now.process, now.call, now.end}, now.view);
  const int ordinal = device_asked(now.view).value_or(now.thread.device);
  devices_.told({now.process, now.function.row, now.call, ordinal, now.end}, now.view);
}

void Recorder::on_marker(Now& now) {
  if (!now.returned) return;
  ranges_.call({.kind = now.view.probe.kind, .id = now.record.id, .parent = now.record.parent, .call = now.call, .process = now.process,
                .thread = now.thread.row, .entry = now.at, .exit = now.end, .result = now.view.result(),
                .range_id = now.view.value(Role::RangeId).value_or(0), .domain = now.view.value(Role::RangeDomain).value_or(0),
                .name = now.view.message()});
}

// ---------------------------------------------------------------- notices

void Recorder::on(const Notice& notice) {
  std::visit([this](const auto& n) { on_notice(n); }, notice);
}

void Recorder::on_notice(const ProcessStarted& n) {
  ++lanes_told_;
  directory_.on(n);
  const RowId process = directory_.process_row(n.process);
  idle_.begin_process(process, n.at);
  steps_.process_known(process, n.process);
}

// A forked thread has its parent's device, which no call of its own told.
void Recorder::on_notice(const ThreadStarted& n) {
  ++lanes_told_;
  directory_.on(n);
  if (keep_.calls && n.device > 0) thread_device_(directory_.thread_row(n.thread), 0, n.device);
}

void Recorder::on_notice(const ThreadEnded& n) {
  ++lanes_told_;
  directory_.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  ranges_.end_thread(directory_.thread_row(n.thread), n.at);
  postmortems_.on(n);
  steps_.thread_ended(directory_.thread_row(n.thread), n.at);
}

void Recorder::on_notice(const DeviceSet& n) {
  ++lanes_told_;
  ThreadEntry* thread = directory_.thread(n.thread);
  if (!thread) return;
  thread->device = n.device;
  if (keep_.calls) thread_device_(thread->row, last_call_id_, n.device);
}

void Recorder::on_notice(const FunctionDefined& n) {
  ++lanes_told_;
  directory_.on(n);
  FunctionEntry* function = directory_.function(n.function);
  if (!function) return;
  function->separates_steps = steps_.begins_with_call(n.probe->symbol);
  if (handlers_.size() <= n.function) handlers_.resize(n.function + 1);
  handlers_[n.function] = handler_of(*n.probe);
}

void Recorder::end_kernels(ProcessId process) {
  kernels_.end_process(process);
  graphs_.end_process(process);
  codes_.end_process(process);
}

void Recorder::on_notice(const KernelNamed& n) {
  kernels_.name(n.process, n.handle, n.name, n.library);
  codes_.on(n);
}

void Recorder::on_notice(const ProcessExec& n) {
  ++lanes_told_;
  directory_.on(n);
  ranges_.exec_process(directory_.process_row(n.process), n.at);
  steps_.process_ended(directory_.process_row(n.process), n.at);
  memory_.exec_process(n.process, n.at);
  end_kernels(n.process);
  streams_.end_process(directory_.process_row(n.process));
}

void Recorder::on_notice(const ProcessEnded& n) {
  ++lanes_told_;
  directory_.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  ranges_.end_process(directory_.process_row(n.process), n.at);
  steps_.process_ended(directory_.process_row(n.process), n.at);
  idle_.end_process(directory_.process_row(n.process), n.at);
  memory_.end_process(n.process, n.at);
  end_kernels(n.process);
  copies_.end_process(directory_.process_row(n.process));
  streams_.end_process(directory_.process_row(n.process));
  devices_.end_process(directory_.process_row(n.process));
  nvml_.end_process(directory_.process_row(n.process));
}

void Recorder::on_notice(const ModuleLoaded& n) {
  directory_.on(n);
  names_.on(n);
}

void Recorder::on_notice(const FrameSeen& n) {
  stacks_.on(n);
  names_.on(n, directory_.frame_row(n.frame));
}

void Recorder::on_notice(const Lifecycle& n) {
  lifecycle_(session_, n.at, unless(directory_.process_row(n.process), 0), unless(directory_.thread_row(n.thread), 0), n.kind, n.value,
             unless_empty(n.detail));
}

void Recorder::on_notice(const Drop& n) {
  if (n.reason != kStacksNotKept && !n.reason.starts_with(kReturnsNotSeen)) never_came_ += n.n;
  drop_(session_, n.at, n.duration, n.n, n.reason);
}

}  // namespace fade::store
