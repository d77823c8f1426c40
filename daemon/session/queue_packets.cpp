#include "session/queue_packets.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "probes/hsa_calls.hpp"

namespace fade {
namespace {

using probes::HsaCall;
namespace hsa = probes::hsa;

constexpr std::uint64_t kMostPackets = 64;  // of one call

QueueReader::Places places_of(const Thread& thread, const OpenCall& call) {
  return {.program = thread.inferior->program.get(),
          .queue = {call.record.words[hsa::kQueue]},
          .index = call.record.result,
          .count = std::min<std::uint64_t>(call.record.words[hsa::kCount], kMostPackets)};
}

std::uint64_t signal_of(std::span<const std::byte> packet) {
  std::uint64_t out;
  std::memcpy(&out, packet.data() + hsa::kSignalAt, sizeof out);
  return out;
}

bool names_signal(std::span<const std::byte> packets, std::uint64_t signal) {
  for (; packets.size() >= hsa::kPacketSize; packets = packets.subspan(hsa::kPacketSize))
    if (signal_of(packets) == signal) return true;
  return false;
}

void add(OpenCall& call, std::span<const std::byte> packets) {
  if (!packets.empty()) append_piece(call.payload, {.kind = PieceKind::Out, .param = hsa::kQueue}, packets);
}

}  // namespace

// HIP may ask for a time between a place and its packet: it needs a signal that is free.
bool QueuePackets::take(Thread& thread, const Entry& entry, OpenCall& call) {
  const HsaCall what = entry.needs.hsa;
  if (what == HsaCall::None && waiting_.empty()) return false;
  if (what != HsaCall::KernelTime && what != HsaCall::CopyTime) complete(thread.id);
  if (what == HsaCall::KernelTime) complete_with(thread, call.record.words[hsa::kSignal]);
  if (what != HsaCall::Packet || call.record.id == 0) return false;
  Waiting& waiting = waiting_[thread.id];
  waiting.thread = &thread;
  waiting.calls.push_back(std::move(call));
  return true;
}

void QueuePackets::complete(ThreadId thread) {
  auto node = waiting_.extract(thread);
  if (!node) return;
  for (OpenCall& call : node.mapped().calls) complete(*node.mapped().thread, std::move(call));
}

void QueuePackets::complete(const Thread& thread, OpenCall call) {
  add(call, reader_.packets(thread.memory(), places_of(thread, call)));
  book_.complete(call);
}

template <class IsReady>
void QueuePackets::complete_if(const Program* program, const IsReady& is_ready) {
  for (auto& [id, waiting] : waiting_) {
    const Thread& thread = *waiting.thread;
    if (thread.inferior->program.get() != program) continue;
    std::erase_if(waiting.calls, [&](const OpenCall& call) {
      if (!is_ready(call)) return false;
      complete(thread, call);
      return true;
    });
  }
}

// Another thread may not have returned from the call that wrote the packet, and the work is done. Where the GPU has not
// begun yet, the packet may not be written, and an old one with the same signal is still there. A packet that is
// overwritten may have been of that signal.
void QueuePackets::complete_with(const Thread& asking, std::uint64_t signal) {
  complete_if(asking.inferior->program.get(), [&](const OpenCall& call) {
    const QueueReader::Places places = places_of(asking, call);
    if (!reader_.has_begun(asking.memory(), places)) return false;
    const auto packets = reader_.packets(asking.memory(), places);
    return packets.empty() || names_signal(packets, signal);
  });
}

void QueuePackets::queue_ends(const Thread& thread, RemoteAddr queue) {
  complete_if(thread.inferior->program.get(),
              [&](const OpenCall& call) { return call.record.words[hsa::kQueue] == queue.value; });
}

}  // namespace fade
