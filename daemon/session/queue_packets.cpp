#include "session/queue_packets.hpp"

#include <algorithm>
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

}  // namespace

// HIP may ask for a time between a place and its packet: it needs a signal that is free.
bool QueuePackets::take(Thread& thread, const Entry& entry, OpenCall& call) {
  const HsaCall what = entry.needs.hsa;
  if (what == HsaCall::None && waiting_.empty()) return false;
  if (what != HsaCall::KernelTime && what != HsaCall::CopyTime) complete(thread.id);
  if (what == HsaCall::KernelTime) complete_begun(*thread.inferior->program);
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
  complete(std::move(call), reader_.packets(thread.memory(), places_of(thread, call)));
}

void QueuePackets::complete(OpenCall call, std::span<const std::byte> packets) {
  if (!packets.empty()) append_piece(call.payload, {.kind = PieceKind::Out, .param = hsa::kQueue}, packets);
  book_.complete(call);
}

template <class Completes>
void QueuePackets::for_waiting(const Program& program, const Completes& completes) {
  for (auto& [id, waiting] : waiting_) {
    const Thread& thread = *waiting.thread;
    if (thread.inferior->program.get() != &program) continue;
    std::erase_if(waiting.calls, [&](const OpenCall& call) { return completes(thread, call); });
  }
}

// Another thread may not have returned from the call that wrote the packet, and the work is done. Where the GPU has not
// begun yet, the packet may not be written, and an old one with the same signal is still there.
void QueuePackets::complete_begun(const Program& program) {
  for_waiting(program, [&](const Thread& thread, const OpenCall& call) {
    const auto packets = reader_.packets_if_begun(thread.memory(), places_of(thread, call));
    if (packets) complete(call, *packets);
    return packets.has_value();
  });
}

void QueuePackets::queue_ends(const Thread& thread, RemoteAddr queue) {
  for_waiting(*thread.inferior->program, [&](const Thread& owner, const OpenCall& call) {
    const bool is_put_there = call.record.words[hsa::kQueue] == queue.value;
    if (is_put_there) complete(owner, call);
    return is_put_there;
  });
}

}  // namespace fade
