#include "session/queue_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "probes/hsa_calls.hpp"

namespace fade {
namespace {

namespace hsa = probes::hsa;

constexpr std::uint64_t kMostQueuePlaces = 1ull << 24;  // of a queue
constexpr std::uint64_t kMostAhead = 1ull << 40;        // a greater number of places is no number of places
constexpr std::uint64_t kPacketsAtOnce = 256;
constexpr std::size_t kMostViews = 256;

template <class T>
T word(std::span<const std::byte> bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// The head of a queue as the program has it now.
struct Head {
  RemoteAddr packets;
  std::uint64_t places = 0, given = 0, begun = 0;  // given, begun: so far

  static std::optional<Head> read(RemoteAddr at, const Memory& memory) {
    const auto head = memory.value<std::array<std::byte, hsa::kQueueHeadSize>>(at);
    if (!head) return std::nullopt;
    const Head out{.packets = {word<std::uint64_t>(*head, hsa::kBaseAt)},
                   .places = word<std::uint32_t>(*head, hsa::kSizeAt),
                   .given = word<std::uint64_t>(*head, hsa::kWriteIndexAt),
                   .begun = word<std::uint64_t>(*head, hsa::kReadIndexAt)};
    const bool is_power = out.places != 0 && (out.places & (out.places - 1)) == 0;
    return out.packets && is_power && out.places <= kMostQueuePlaces ? std::optional(out) : std::nullopt;
  }
  RemoteAddr at(std::uint64_t index) const { return packets + index % places * hsa::kPacketSize; }
};

bool may_be_overwritten(std::uint64_t index, std::uint64_t given, std::uint64_t places) {
  return given > index + places && given - index < kMostAhead;
}

// The packets from `index` on, up to the first one that cannot be read.
std::vector<std::byte> read_from(const Head& head, std::uint64_t index, std::uint64_t count, const Memory& memory) {
  std::vector<std::byte> out(count * hsa::kPacketSize);
  std::size_t done = 0;
  while (done < out.size()) {
    const std::uint64_t at = index + done / hsa::kPacketSize;
    const std::size_t to_end = (head.places - at % head.places) * hsa::kPacketSize;
    const auto part = std::span(out).subspan(done, std::min(out.size() - done, to_end));
    const std::size_t got = memory.read(head.at(at), part);
    done += got;
    if (got < part.size()) break;
  }
  out.resize(done - done % hsa::kPacketSize);
  return out;
}

}  // namespace

// The head is read once more after the packets: what was not overwritten then was not when they were read.
std::optional<QueueReader::View> QueueReader::read(const Memory& memory, const Places& places) const {
  const auto head = Head::read(places.queue, memory);
  if (!head) return std::nullopt;
  const bool has_more = is_round_ && head->given > places.index;
  const std::uint64_t most = has_more ? std::min(head->given - places.index, kPacketsAtOnce) : 0;
  View out{.program = places.program,
           .queue = places.queue,
           .places = head->places,
           .begun = head->begun,
           .first = places.index,
           .wanted = std::max(places.count, most)};
  out.packets = read_from(*head, out.first, out.wanted, memory);
  const auto after = Head::read(places.queue, memory);
  if (!after) return std::nullopt;
  out.given = after->given;
  return out;
}

const QueueReader::View* QueueReader::view(const Memory& memory, const Places& places) {
  if (!is_round_ || views_.size() >= kMostViews) views_.clear();
  const auto known = std::ranges::find_if(views_, [&](const View& view) { return view.has(places); });
  if (known != views_.end()) return &*known;
  auto now = read(memory, places);
  if (!now) return nullptr;
  std::erase_if(views_, [&](const View& v) { return v.program == places.program && v.queue == places.queue; });
  return &views_.emplace_back(std::move(*now));
}

std::span<const std::byte> QueueReader::View::packets_of(const Places& of) const {
  if (may_be_overwritten(of.index, given, places)) return {};
  const std::span<const std::byte> all(packets);
  const std::size_t from = std::min((of.index - first) * hsa::kPacketSize, all.size());
  return all.subspan(from, std::min(of.count * hsa::kPacketSize, all.size() - from));
}

std::span<const std::byte> QueueReader::packets(const Memory& memory, const Places& places) {
  const View* const now = view(memory, places);
  return now ? now->packets_of(places) : std::span<const std::byte>();
}

std::optional<std::span<const std::byte>> QueueReader::packets_if_begun(const Memory& memory, const Places& places) {
  const View* const now = view(memory, places);
  if (!now || now->begun < places.index + places.count) return std::nullopt;
  return now->packets_of(places);
}

}  // namespace fade
