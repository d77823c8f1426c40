#include "session/queue_packets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "probes/hsa_calls.hpp"

namespace fade {
namespace {

using probes::HsaCall;
namespace hsa = probes::hsa;

constexpr std::uint64_t kMostPackets = 64;              // of one call
constexpr std::uint64_t kMostQueuePlaces = 1ull << 24;  // of a queue
constexpr std::uint64_t kMostAhead = 1ull << 40;        // a greater number of places is no number of places

using PacketBytes = std::array<std::byte, hsa::kPacketSize>;

template <class T>
T word(std::span<const std::byte> bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// The head of a queue as the program has it now.
struct Queue {
  RemoteAddr packets;
  std::uint64_t places = 0, given = 0, begun = 0;  // given, begun: so far

  static std::optional<Queue> read(RemoteAddr at, const Memory& memory) {
    const auto head = memory.value<std::array<std::byte, hsa::kQueueHeadSize>>(at);
    if (!head) return std::nullopt;
    const Queue out{.packets = {word<std::uint64_t>(*head, hsa::kBaseAt)},
                    .places = word<std::uint32_t>(*head, hsa::kSizeAt),
                    .given = word<std::uint64_t>(*head, hsa::kWriteIndexAt),
                    .begun = word<std::uint64_t>(*head, hsa::kReadIndexAt)};
    const bool is_power = out.places != 0 && (out.places & (out.places - 1)) == 0;
    return out.packets && is_power && out.places <= kMostQueuePlaces ? std::optional(out) : std::nullopt;
  }
  RemoteAddr at(std::uint64_t index) const { return packets + index % places * hsa::kPacketSize; }
  bool may_have_overwritten(std::uint64_t index) const { return given > index + places && given - index < kMostAhead; }
};

std::uint64_t packets_of(const OpenCall& call) {
  return std::min<std::uint64_t>(call.record.words[hsa::kCount], kMostPackets);
}

bool has_begun(const OpenCall& call, const Memory& memory) {
  const auto queue = Queue::read({call.record.words[hsa::kQueue]}, memory);
  return queue && queue->begun >= call.record.result + packets_of(call);
}

// The packets of the call. Fewer if one cannot be read, or is that of a later call. The head is read once more after
// the packets: what was not overwritten then was not when they were read.
std::vector<std::byte> read_packets(const OpenCall& call, const Memory& memory) {
  const RemoteAddr head{call.record.words[hsa::kQueue]};
  const auto queue = Queue::read(head, memory);
  std::vector<std::byte> out;
  for (std::uint64_t i = 0; queue && i < packets_of(call); ++i) {
    const auto packet = memory.value<PacketBytes>(queue->at(call.record.result + i));
    if (!packet) break;
    out.insert(out.end(), packet->begin(), packet->end());
  }
  const auto after = out.empty() ? std::nullopt : Queue::read(head, memory);
  if (!after || after->may_have_overwritten(call.record.result)) out.clear();
  return out;
}

bool names_signal(std::span<const std::byte> packets, std::uint64_t signal) {
  for (; packets.size() >= hsa::kPacketSize; packets = packets.subspan(hsa::kPacketSize))
    if (word<std::uint64_t>(packets, hsa::kSignalAt) == signal) return true;
  return false;
}

void add(OpenCall& call, std::span<const std::byte> packets) {
  if (!packets.empty()) append_piece(call.payload, {.kind = PieceKind::Out, .param = hsa::kQueue}, packets);
}

}  // namespace

bool QueuePackets::take(Thread& thread, const Entry& entry, OpenCall& call) {
  const HsaCall what = entry.needs.hsa;
  if (what == HsaCall::None && waiting_.empty()) return false;
  complete(thread.id);
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
  add(call, read_packets(call, thread.memory()));
  book_.complete(call);
}

// Another thread may not have returned from the call that wrote the packet, and the work is done. Where the GPU has not
// begun yet, the packet may not be written, and an old one with the same signal is still there.
void QueuePackets::complete_with(const Thread& asking, std::uint64_t signal) {
  for (auto& [id, waiting] : waiting_) {
    if (waiting.thread->inferior->program != asking.inferior->program) continue;
    std::erase_if(waiting.calls, [&](OpenCall& call) {
      if (!has_begun(call, asking.memory())) return false;
      const auto packets = read_packets(call, asking.memory());
      if (!names_signal(packets, signal)) return false;
      add(call, packets);
      book_.complete(call);
      return true;
    });
  }
}

}  // namespace fade
