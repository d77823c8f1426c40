#include "store/stream_recorder.hpp"

#include <algorithm>

namespace fade::store {

using probes::Role;

namespace {

constexpr std::size_t kShownMask = 64;  // words of a stream's mask of compute units

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

StreamBook::Options options_of(const CallView& view) {
  StreamBook::Options out;
  for (const probes::Parameter& parameter : view.probe.parameters) {
    const auto number = [&] {
      return static_cast<std::int32_t>(probes::argument(view.probe, parameter, view.record, view.payload));
    };
    if (parameter.name == "flags") out.flags = number();
    if (parameter.name == "priority") out.priority = number();
    if (parameter.name != "cuMask") continue;
    const auto words = view.piece(PieceKind::In, probes::index_of(view.probe, parameter));
    if (words && !words->bytes.empty()) out.cu_mask = mask_text(words->bytes);
  }
  return out;
}

}  // namespace

void StreamRecorder::create(const RecordedCall& call) {
  const auto handle = call.view.value(Role::Stream);
  if (!call.succeeded() || !handle) return;
  StreamBook::User user = user_of(call);
  user.at = call.end;
  streams_.create(user, *handle, options_of(call.view));
}

void StreamRecorder::destroy(const RecordedCall& call) {
  const auto handle = call.view.value(Role::Stream);
  if (call.succeeded() && handle) streams_.destroy(call.process, *handle, call.end);
}

void StreamRecorder::synchronize(const RecordedCall& call) {
  if (StreamBook::Stream* stream = used(call, call.view.value(Role::Stream))) ++stream->syncs;
}

StreamBook::Stream* StreamRecorder::used(const RecordedCall& call, std::optional<std::uint64_t> handle) {
  if (!handle) return nullptr;
  const StreamBook::User user = user_of(call);
  return user.device == 0 ? nullptr : &streams_.used(user, meant(call, *handle));
}

std::uint64_t StreamRecorder::meant(const RecordedCall& call, std::uint64_t handle) {
  if (handle == kLegacyStream) return kNullStream;
  return handle == kNullStream && call.view.probe.symbol.ends_with("_spt") ? kPerThreadStream : handle;
}

// A failed call shows no device: there may be none.
StreamBook::User StreamRecorder::user_of(const RecordedCall& call) {
  const DeviceRow device = call.failed ? devices_.find(call.process, call.thread.device) : device_of(call);
  return {call.process, call.thread.row, device, call.at};
}

}  // namespace fade::store
