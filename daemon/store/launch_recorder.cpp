#include "store/launch_recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {
constexpr probes::LaunchShape kUnknown{{0, 0, 0}, {0, 0, 0}, 0};  // hipLaunchByPtr without the call inside
constexpr std::size_t kImageParameter = 1;                        // as in session/code_images.cpp
}  // namespace

LaunchRecorder::LaunchRecorder(sqlite::Db& db, Failure& failure, Books& books, StreamRecorder& streams)
    : books_(books), streams_(streams), more_launches_(db, failure, "INSERT INTO more_launch_ VALUES (?,?,?)") {}

// If a launching function calls another one, the inner call is the launch: hipLaunchByPtr.
void LaunchRecorder::record(RecordedCall& call, std::uint64_t lanes_told) {
  last_ = {};
  if (call.thread.launched_in == call.record.id) return;
  call.thread.launched_in = call.record.parent;
  return call.function.names_kernel ? launch_named(call, lanes_told) : launch_listed(call);
}

LaunchMemo::Key LaunchRecorder::key_of(const RecordedCall& call) const {
  LaunchMemo::Key key;
  key.size = call.function.launch.size();
  key.hash = call.function.launch.read(call.record, call.view.payload, key.words);
  key.function = call.record.function;
  key.process = call.process_id();
  key.device = call.thread.device;
  return key;
}

void LaunchRecorder::launch_named(RecordedCall& call, std::uint64_t lanes_told) {
  const auto told = [&] { return lanes_told + streams_.forgotten() + books_.kernels.renamed(); };
  const LaunchMemo::Key key = key_of(call);
  const bool is_told = key.hash != 0 && !books_.graphs.capturing();
  if (is_told)
    if (const LaunchMemo::Launch* known = memo_.find(key, told())) return launch_again(call, *known);
  const auto handle = call.view.value(Role::Kernel);
  if (!handle) return launch_listed(call);
  const auto stream = call.view.value(Role::Stream);
  StreamBook::Stream* used = streams_.used(call, stream);
  LaunchSum& sum = launch(call, {*handle, call.view.launch_shape(), stream}, used ? used->row : StreamRow(), 0);
  if (used) used->launches += call.launched;
  last_ = {&sum, used, call.launch, call.wanted};
  const bool is_threads_own = stream && StreamRecorder::meant(call, *stream) == kPerThreadStream;
  if (is_told && !is_threads_own) memo_.remember(key, told(), last_);
}

void LaunchRecorder::launch_again(RecordedCall& call, const LaunchMemo::Launch& known) {
  call.ran = true;
  call.launched = !call.failed;
  call.wanted = known.wanted;
  call.launch = known.row;
  last_ = known;
  known.sum->add(call.at, call.ns, call.failed);
  if (!known.stream) return;
  known.stream->changed = true;
  known.stream->launches += call.launched;
}

void LaunchRecorder::more(const RecordedCall& call, const AlikeCalls& more) {
  if (!last_.sum) return;
  for (std::size_t i = 0; i < more.calls.size(); ++i)
    last_.sum->add(more.calls[i].entry_ns, more.ns_of(i), call.failed);
  if (last_.stream) last_.stream->launches += call.launched * more.calls.size();
}

void LaunchRecorder::launch_listed(RecordedCall& call) {
  call.ran = true;
  std::int64_t nth = 0;
  for (const probes::KernelUse& use : probes::kernels_used(call.view.probe, call.record, call.view.payload)) {
    StreamBook::Stream* stream = streams_.used(call, use.stream.value_or(kNullStream));
    const std::uint64_t before = call.launched;
    launch(call, use, stream ? stream->row : StreamRow(), nth++);
    if (stream) stream->launches += call.launched - before;
  }
  if (nth == 0) call.launched = !call.failed;  // the list of kernels could not be read
}

LaunchSum& LaunchRecorder::launch(RecordedCall& call, const probes::KernelUse& use, StreamRow stream,
                                  std::int64_t nth) {
  const KernelBook::Kernel kernel = books_.kernels.kernel(call.process_id(), use.kernel, call.call);
  const GeometryRow geometry = books_.launches.geometry(use.shape.value_or(kUnknown));
  const bool captured =
      !call.failed && use.stream && books_.graphs.capture(call.process_id(), *use.stream, {kernel.row, geometry});
  call.ran = !captured;
  call.launched += !captured && !call.failed;
  LaunchSum& sum = books_.rollups.launches(kernel.row, geometry);
  if (!captured) sum.add(call.at, call.ns, call.failed);
  call.wanted = nth == 0 ? kernel.wanted : call.wanted || kernel.wanted;
  if (!books_.keep.calls || !kernel.wanted) return sum;
  const LaunchRow row = books_.launches.launch(kernel.row, geometry, stream, captured);
  if (call.launch == 0) call.launch = row;
  else more_launches_(call.call, nth, row);
  return sum;
}

GraphKernel LaunchRecorder::graph_kernel(const RecordedCall& call, const probes::KernelUse& use) {
  return {books_.kernels.kernel(call.process_id(), use.kernel, call.call).row,
          books_.launches.geometry(use.shape.value_or(kUnknown))};
}

// ---------------------------------------------------------------- graphs

void GraphRecorder::record(RecordedCall& call) {
  if (!call.returned) return;
  StreamBook::Stream* stream =
      starts_kernels(call.view.probe) ? streams_.used(call, call.view.value(Role::Stream)) : nullptr;
  const bool has_row = books_.keep.calls && call.has_row();
  GraphCall out{call.process_id(), call.process, call.call, stream ? stream->row : StreamRow(),
                call.at,           call.end,     call.ns,   call.failed,
                has_row,           call.view,    {}};
  if (!call.failed) describe(call, out);
  call.ran = books_.graphs.call(out);
  call.launched = books_.graphs.launched();
  if (stream) stream->launches += call.launched;
  copies_.graph_launched(call, stream);
  memory_.graph_launched(call);
}

void GraphRecorder::describe(const RecordedCall& call, GraphCall& out) {
  const probes::Probe& probe = call.view.probe;
  if (GraphBook::names_kernels(probe.symbol))
    for (const probes::KernelUse& use : probes::kernels_used(probe, call.record, call.view.payload))
      out.kernels.push_back(launches_.graph_kernel(call, use));
  if (call.function.memory.act == probes::MemoryAct::Node) out.memory = memory_.graph_node(call);
  if (GraphBook::adds_copy(probe.symbol)) out.copy = copies_.graph_node(call);
}

// ---------------------------------------------------------------- modules

void ModuleRecorder::forget(ProcessId process, std::uint64_t module) {
  kernels_.unload(process, module);
  codes_.unload(process, module);
}

void ModuleRecorder::load(const RecordedCall& call) {
  const auto module = call.view.value(Role::Module);
  if (!call.succeeded() || !module) return;
  forget(call.process_id(), *module);  // the handle may have been another module's before
  if (const auto piece = call.view.piece(PieceKind::In, kImageParameter))
    codes_.loaded(call.process_id(), *module, elf::carried(piece->bytes));
}

void ModuleRecorder::unload(const RecordedCall& call) {
  const auto module = call.view.value(Role::Module);
  if (call.succeeded() && module) forget(call.process_id(), *module);
}

void ModuleRecorder::name_kernel(const RecordedCall& call) {
  const auto handle = call.view.value(Role::Kernel);
  if (!call.succeeded() || !handle) return;
  if (const auto name = call.view.text(Role::KernelName))
    kernels_.name(call.process_id(), *handle, *name, {}, call.view.value(Role::Module).value_or(0));
  else if (const auto known = call.view.value(Role::Address)) kernels_.same(call.process_id(), *handle, *known);
}

}  // namespace fade::store
