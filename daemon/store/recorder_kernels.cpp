// What calls do to kernels, graphs and streams: launches of every kind, captures, names of handles, code objects.
#include "store/recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {
constexpr probes::LaunchShape kUnknown{{0, 0, 0}, {0, 0, 0}, 0};  // hipLaunchByPtr without the call inside
constexpr std::size_t kImageParameter = 1;                        // as in session/code_images.cpp
constexpr std::size_t kShownMask = 64;                            // words of a stream's mask of compute units

std::string mask_text(std::span<const std::byte> words) {
  std::string out;
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = std::min(words.size(), kShownMask * 4); i-- > 0;) {
    const unsigned byte = std::to_integer<unsigned>(words[i]);
    out += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  out.erase(0, std::min(out.find_first_not_of('0'), out.size() - 1));
  return "0x" + out;
}
}  // namespace

// Which of the default streams a function means by 0 stands in its name; 1 is another way to write 0.
std::uint64_t Recorder::stream_handle(const Now& now, std::uint64_t handle) const {
  if (handle == kLegacyStream) return kNullStream;
  return handle == kNullStream && now.view.probe.symbol.ends_with("_spt") ? kPerThreadStream : handle;
}

StreamBook::User Recorder::user_of(const Now& now) { return {now.process, now.thread.row, device_if_known(now), now.at}; }

StreamBook::Stream* Recorder::stream_used(const Now& now, std::optional<std::uint64_t> handle) {
  if (!handle) return nullptr;
  const StreamBook::User user = user_of(now);
  return user.device == 0 ? nullptr : &streams_.used(user, stream_handle(now, *handle));
}

RowId Recorder::stream_of(const Now& now, std::uint64_t StreamBook::Stream::*use) {
  StreamBook::Stream* stream = stream_used(now, now.view.value(Role::Stream));
  if (!stream) return 0;
  ++(stream->*use);
  return stream->row;
}

LaunchSum& Recorder::launch_kernel(Now& now, const probes::KernelUse& use, RowId stream, std::int64_t nth) {
  const KernelBook::Kernel kernel = kernels_.kernel(now.thread.process, use.kernel, now.call);
  const RowId geometry = kernels_.geometry(use.shape.value_or(kUnknown));
  const bool captured = !now.failed && use.stream && graphs_.capture(now.thread.process, *use.stream, {kernel.row, geometry});
  now.ran = !captured;
  now.launched += !captured && !now.failed;
  LaunchSum& sum = rollups_.launches(kernel.row, geometry);
  if (!captured) sum.add(now.at, now.ns, now.failed);
  now.wanted = nth == 0 ? kernel.wanted : now.wanted || kernel.wanted;
  if (!keep_.calls || !kernel.wanted) return sum;
  const RowId launch = kernels_.launch(kernel.row, geometry, stream, captured);
  if (now.launch == BatchTable::kNull) now.launch = launch;
  else more_launch_(now.call, nth, launch);
  return sum;
}

// Where a launching function calls another one, the inner call is the launch: hipLaunchByPtr.
void Recorder::on_launch(Now& now) {
  if (now.thread.launched_in == now.record.id) return;
  now.thread.launched_in = now.record.parent;
  return now.function.names_kernel ? launch_named(now) : launch_listed(now);
}

void Recorder::launch_again(Now& now, const LaunchMemo::Launch& known) {
  now.ran = true;
  now.launched = !now.failed;
  now.wanted = known.wanted;
  now.launch = known.row;
  known.sum->add(now.at, now.ns, now.failed);
  if (!known.stream) return;
  known.stream->changed = true;
  known.stream->launches += now.launched;
}

void Recorder::launch_named(Now& now) {
  LaunchMemo::Key key;
  key.size = now.function.launch.size();
  key.hash = now.function.launch.read(now.record, now.view.payload, key.words);
  key.function = now.record.function;
  key.process = now.thread.process;
  key.device = now.thread.device;
  const bool is_told = key.hash != 0 && !graphs_.capturing();
  if (is_told)
    if (const LaunchMemo::Launch* known = launches_.find(key, launches_told())) return launch_again(now, *known);
  const auto handle = now.view.value(Role::Kernel);
  if (!handle) return launch_listed(now);
  const auto stream = now.view.value(Role::Stream);
  StreamBook::Stream* used = stream_used(now, stream);
  LaunchSum& sum = launch_kernel(now, {*handle, now.view.launch_shape(), stream}, used ? used->row : 0, 0);
  if (used) used->launches += now.launched;
  const bool is_threads_own = stream && stream_handle(now, *stream) == kPerThreadStream;
  if (is_told && !is_threads_own) launches_.remember(key, launches_told(), {&sum, used, now.launch, now.wanted});
}

void Recorder::launch_listed(Now& now) {
  now.ran = true;
  std::int64_t nth = 0;
  for (const probes::KernelUse& use : probes::kernels_used(now.view.probe, now.record, now.view.payload)) {
    StreamBook::Stream* stream = stream_used(now, use.stream.value_or(kNullStream));
    const std::uint64_t before = now.launched;
    launch_kernel(now, use, stream ? stream->row : 0, nth++);
    if (stream) stream->launches += now.launched - before;
  }
  if (nth == 0) now.launched = !now.failed;  // the list of kernels could not be read
}

GraphKernel Recorder::graph_kernel(const Now& now, const probes::KernelUse& use) {
  return {kernels_.kernel(now.thread.process, use.kernel, now.call).row, kernels_.geometry(use.shape.value_or(kUnknown))};
}

void Recorder::on_graph(Now& now) {
  if (!now.returned) return;
  const bool launches = starts_kernels(now.view.probe);
  GraphCall call{now.thread.process, now.process, now.call, 0, now.at, now.end, now.ns, now.failed, keep_.calls, now.view, {}};
  StreamBook::Stream* stream = launches ? stream_used(now, now.view.value(Role::Stream)) : nullptr;
  if (stream) call.stream = stream->row;
  if (!now.failed && GraphBook::names_kernels(now.view.probe.symbol))
    for (const probes::KernelUse& use : probes::kernels_used(now.view.probe, now.record, now.view.payload)) call.kernels.push_back(graph_kernel(now, use));
  if (!now.failed && now.function.memory.act == MemoryAct::Node) call.memory = graph_memory(now);
  if (!now.failed && GraphBook::adds_copy(now.view.probe.symbol)) call.copy = copy_node(now);
  now.ran = graphs_.call(call);
  now.launched = graphs_.launched();
  if (stream) stream->launches += now.launched;
  launch_copies(now, stream);
  if (graphs_.launched_memory().memories) launch_memory(now);
}

// hipModuleGetFunction, __hipRegisterFunction: a handle and the name of its kernel. hipGetFuncBySymbol: another handle of it.
void Recorder::on_kernel_name(Now& now) {
  if (now.failed || !now.returned) return;
  const auto handle = now.view.value(Role::Kernel);
  const auto name = now.view.text(Role::KernelName);
  if (handle && name) kernels_.name(now.thread.process, *handle, *name, {}, now.view.value(Role::Module).value_or(0));
  else if (const auto known = now.view.value(Role::Address); handle && known) kernels_.same(now.thread.process, *handle, *known);
}

void Recorder::on_module_load(Now& now) {
  const auto module = now.view.value(Role::Module);
  const auto piece = now.view.piece(PieceKind::In, kImageParameter);
  if (now.failed || !now.returned || !module) return;
  kernels_.unload(now.thread.process, *module);  // whatever had this handle before
  codes_.unload(now.thread.process, *module);
  if (piece) codes_.loaded(now.thread.process, *module, elf::carried(piece->bytes));
}

void Recorder::on_module_unload(Now& now) {
  const auto module = now.view.value(Role::Module);
  if (now.failed || !now.returned || !module) return;
  kernels_.unload(now.thread.process, *module);
  codes_.unload(now.thread.process, *module);
}

void Recorder::on_stream_create(Now& now) {
  const auto handle = now.view.value(Role::Stream);
  if (now.failed || !now.returned || !handle) return;
  StreamBook::Options options;
  const std::vector<probes::Parameter>& parameters = now.view.probe.parameters;
  for (const probes::Parameter& parameter : parameters) {
    const auto number = [&] { return static_cast<std::int32_t>(probes::argument(now.view.probe, parameter, now.record, now.view.payload)); };
    if (parameter.name == "flags") options.flags = number();
    if (parameter.name == "priority") options.priority = number();
    if (parameter.name != "cuMask") continue;
    if (const auto words = now.view.piece(PieceKind::In, probes::index_of(now.view.probe, parameter)); words && !words->bytes.empty()) options.cu_mask = mask_text(words->bytes);
  }
  StreamBook::User user = user_of(now);
  user.at = now.end;
  streams_.create(user, *handle, options);
}

void Recorder::on_stream_destroy(Now& now) {
  const auto handle = now.view.value(Role::Stream);
  if (!now.failed && now.returned && handle) streams_.destroy(now.process, *handle, now.end);
}

}  // namespace fade::store
