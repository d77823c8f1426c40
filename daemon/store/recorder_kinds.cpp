// What calls of each kind do to the launch table, the copy table, the ledger, the streams and the devices.
#include <algorithm>
#include <limits>

#include "store/device_facts.hpp"
#include "store/recorder.hpp"

namespace fade::store {

using probes::Kind;
using probes::Role;

namespace {
constexpr std::int64_t kNull = BatchTable::kNull;
constexpr std::int64_t kFill = -1;        // copy_.kind of memset
constexpr std::int64_t kDefaultCopy = 4;  // hipMemcpyDefault
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::Mark) + 1;
}

Recorder::Handler Recorder::handler_of(Kind kind) {
  struct Row {
    Kind kind;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {Kind::Launch, &Recorder::on_launch},
      {Kind::Graph, &Recorder::on_graph},
      {Kind::Event, &Recorder::on_graph},  // events lead a capture into other streams
      {Kind::ModuleLoad, &Recorder::on_module_load},
      {Kind::Copy, &Recorder::on_copy},
      {Kind::Set, &Recorder::on_copy},
      {Kind::Alloc, &Recorder::on_alloc},
      {Kind::HostAlloc, &Recorder::on_alloc},
      {Kind::Free, &Recorder::on_free},
      {Kind::HostFree, &Recorder::on_free},
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
  static constexpr auto kByKind = [] {
    std::array<Handler, kKinds> out{};
    out.fill(&Recorder::on_other);
    for (const Row& row : kRows) out[static_cast<std::size_t>(row.kind)] = row.handler;
    return out;
  }();
  return kByKind[static_cast<std::size_t>(kind)];
}

DeviceRow Recorder::device_of(const Now& now) { return devices_.row(now.process, now.thread.device); }

void Recorder::on_copy(Now& now) {
  const bool fill = now.view.probe.kind == Kind::Set;
  const std::int64_t kind = fill ? kFill : now.view.copy_kind().value_or(kDefaultCopy);
  const auto bytes = static_cast<std::int64_t>(std::min(now.view.bytes().value_or(0), kMostBytes));
  const RowId stream = stream_of(now, &StreamBook::Stream::copies);
  if (!now.failed) rollups_.copy(now.process, now.function.row, kind, bytes, now.ns);
  if (!now.failed && !fill) steps_.copied(now.process, now.thread.row, bytes);
  if (!keep_.calls) return;
  const auto address = [&](Role role) { return static_cast<std::int64_t>(now.view.value(role).value_or(static_cast<std::uint64_t>(kNull))); };
  copy_rows_.add(now.call, kind, bytes, address(Role::Source), address(Role::Destination), stream == 0 ? kNull : stream);
}

void Recorder::on_alloc(Now& now) {
  if (now.failed || !now.returned) return;
  const auto address = probes::out_value(now.view.probe, Role::Address, now.record, now.view.payload);
  if (!address || *address == 0) return;
  const std::uint64_t bytes = std::min(now.view.bytes().value_or(0), kMostBytes);
  memory_.allocate(now.thread.process, *address, {bytes, device_of(now), now.function.memory, now.call, now.end});
}

void Recorder::on_free(Now& now) {
  if (now.failed || !now.returned) return;
  if (const auto address = now.view.value(Role::Address)) memory_.release(now.thread.process, *address, now.call, now.end, device_of(now));
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
  if (now.failed || !now.returned) return;
  if (!tells_device_facts(now.view.probe)) return nvml_.told({now.process, now.call, now.end}, now.view);
  const int ordinal = device_asked(now.view).value_or(now.thread.device);
  devices_.told({now.process, now.function.row, now.call, ordinal, now.end}, now.view);
}

// Functions that differ from others of their kind.
void Recorder::on_other(Now& now) {
  struct Row {
    std::string_view symbol;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {"hipDeviceReset", &Recorder::on_device_reset},      {"hipModuleUnload", &Recorder::on_module_unload}, {"hipLibraryUnload", &Recorder::on_module_unload},
      {"hipStreamWaitEvent", &Recorder::on_graph}, {"hipStreamWaitEvent_spt", &Recorder::on_graph},
  };
  if (now.failed || !now.returned) return;
  const auto* row = std::ranges::find(kRows, std::string_view(now.function.probe->symbol), &Row::symbol);
  if (row != std::end(kRows)) (this->*row->handler)(now);
}

void Recorder::on_marker(Now& now) {
  if (!now.returned) return;
  ranges_.call({.kind = now.view.probe.kind, .id = now.record.id, .parent = now.record.parent, .call = now.call, .process = now.process,
                .thread = now.thread.row, .entry = now.at, .exit = now.end, .result = now.view.result(),
                .range_id = now.view.value(Role::RangeId).value_or(0), .domain = now.view.value(Role::RangeDomain).value_or(0),
                .name = now.view.message()});
}

void Recorder::on_device_reset(Now& now) { memory_.release_device(now.thread.process, device_of(now), now.call, now.end); }

// ---------------------------------------------------------------- notices

void Recorder::on(const Notice& notice) {
  std::visit([this](const auto& n) { on_notice(n); }, notice);
}

void Recorder::on_notice(const ProcessStarted& n) {
  directory_.on(n);
  const RowId process = directory_.process_row(n.process);
  idle_.begin_process(process, n.at);
  steps_.process_known(process, n.process);
}

void Recorder::on_notice(const ThreadEnded& n) {
  directory_.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  ranges_.end_thread(directory_.thread_row(n.thread), n.at);
  steps_.thread_ended(directory_.thread_row(n.thread), n.at);
}

void Recorder::on_notice(const FunctionDefined& n) {
  directory_.on(n);
  if (FunctionEntry* function = directory_.function(n.function)) function->separates_steps = steps_.begins_with_call(n.probe->symbol);
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
  directory_.on(n);
  ranges_.exec_process(directory_.process_row(n.process), n.at);
  steps_.process_ended(directory_.process_row(n.process), n.at);
  memory_.exec_process(n.process, n.at);
  end_kernels(n.process);
  streams_.end_process(directory_.process_row(n.process));
}

void Recorder::on_notice(const ProcessEnded& n) {
  directory_.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  ranges_.end_process(directory_.process_row(n.process), n.at);
  steps_.process_ended(directory_.process_row(n.process), n.at);
  idle_.end_process(directory_.process_row(n.process), n.at);
  memory_.end_process(n.process, n.at);
  end_kernels(n.process);
  streams_.end_process(directory_.process_row(n.process));
  devices_.end_process(directory_.process_row(n.process));
  nvml_.end_process(directory_.process_row(n.process));
}

void Recorder::on_notice(const Lifecycle& n) {
  lifecycle_(session_, n.at, unless(directory_.process_row(n.process), 0), unless(directory_.thread_row(n.thread), 0), n.kind, n.value,
             unless_empty(n.detail));
}

void Recorder::on_notice(const Drop& n) {
  dropped_ += n.n;
  drop_(session_, n.at, n.duration, n.n, n.reason);
}

}  // namespace fade::store
