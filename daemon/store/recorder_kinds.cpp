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
constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::Graph) + 1;
}

Recorder::Handler Recorder::handler_of(Kind kind) {
  struct Row {
    Kind kind;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {Kind::Launch, &Recorder::on_launch},
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

RowId Recorder::stream_of(const Now& now, std::uint64_t StreamBook::Stream::*use) {
  const auto handle = now.view.value(Role::Stream);
  if (!handle) return 0;
  StreamBook::Stream& stream = streams_.used(now.process, *handle, device_of(now), now.at);
  ++(stream.*use);
  return stream.row;
}

void Recorder::on_launch(Now& now) {
  const auto handle = now.view.value(Role::Kernel);
  const RowId stream = stream_of(now, &StreamBook::Stream::launches);
  if (!handle) return;  // a graph, or one of the multi-device forms: no kernel to name
  const KernelBook::Kernel kernel = kernels_.kernel(now.thread.process, *handle, now.call);
  constexpr probes::LaunchShape kUnknown{{0, 0, 0}, {0, 0, 0}, 0};
  const RowId geometry = kernels_.geometry(now.view.launch_shape().value_or(kUnknown));
  rollups_.launch(kernel.row, geometry, now.at, now.ns, now.failed);
  now.wanted = kernel.wanted;
  if (keep_.calls && kernel.wanted) now.launch = kernels_.launch(kernel.row, geometry, stream);
}

void Recorder::on_copy(Now& now) {
  const bool fill = now.view.probe.kind == Kind::Set;
  const std::int64_t kind = fill ? kFill : now.view.copy_kind().value_or(kDefaultCopy);
  const auto bytes = static_cast<std::int64_t>(std::min(now.view.bytes().value_or(0), kMostBytes));
  const RowId stream = stream_of(now, &StreamBook::Stream::copies);
  if (!now.failed) rollups_.copy(now.process, now.function.row, kind, bytes, now.ns);
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

void Recorder::on_stream_create(Now& now) {
  const auto handle = now.view.value(Role::Stream);
  if (!now.failed && now.returned && handle) streams_.create(now.process, *handle, device_of(now), now.end);
}

void Recorder::on_stream_destroy(Now& now) {
  const auto handle = now.view.value(Role::Stream);
  if (!now.failed && now.returned && handle) streams_.destroy(now.process, *handle, now.end);
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

// hipModuleGetFunction, __hipRegisterFunction: a handle and the name of its kernel.
void Recorder::on_kernel_name(Now& now) {
  if (now.failed || !now.returned) return;
  const auto handle = now.view.value(Role::Kernel);
  const auto name = now.view.text(Role::KernelName);
  if (handle && name) kernels_.name(now.thread.process, *handle, *name, {});
}

void Recorder::on_device_query(Now& now) {
  if (now.failed || !now.returned || !tells_device_facts(now.view.probe)) return;
  const int ordinal = device_asked(now.view).value_or(now.thread.device);
  devices_.told({now.process, now.function.row, now.call, ordinal, now.end}, now.view);
}

void Recorder::on_other(Now& now) {
  if (now.failed || !now.returned || now.function.probe->symbol != "hipDeviceReset") return;
  memory_.release_device(now.thread.process, device_of(now), now.call, now.end);
}

// ---------------------------------------------------------------- notices

void Recorder::on(const Notice& notice) {
  std::visit([this](const auto& n) { on_notice(n); }, notice);
}

void Recorder::on_notice(const ProcessExec& n) {
  directory_.on(n);
  memory_.exec_process(n.process, n.at);
  kernels_.end_process(n.process);
  streams_.end_process(directory_.process_row(n.process));
}

void Recorder::on_notice(const ProcessEnded& n) {
  directory_.on(n);
  memory_.end_process(n.process, n.at);
  kernels_.end_process(n.process);
  streams_.end_process(directory_.process_row(n.process));
  devices_.end_process(directory_.process_row(n.process));
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
  dropped_ += n.n;
  drop_(session_, n.at, n.duration, n.n, n.reason);
}

}  // namespace fade::store
