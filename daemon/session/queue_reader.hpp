// Reads packets out of the queues of a GPU in a program's memory (AQL packets, amd_queue_t). Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote.hpp"

namespace fade {

class QueueReader {
 public:
  // The places that one call was given.
  struct Places {
    const void* program = nullptr;  // that the memory belongs to
    RemoteAddr queue;
    std::uint64_t index = 0, count = 0;
  };

  // In a round, only packets are asked for that were written before begin_round(). So they are read many at once.
  void begin_round() { start(true); }
  void end_round() { start(false); }

  // The packets. Fewer if one cannot be read, none if one may be that of a later call. Valid until the next question.
  std::span<const std::byte> packets(const Memory& memory, const Places& places);
  // nullopt: the GPU has not begun to work on all of them.
  std::optional<std::span<const std::byte>> packets_if_begun(const Memory& memory, const Places& places);

 private:
  // A part of a queue at one time.
  struct View {
    const void* program = nullptr;
    RemoteAddr queue;
    std::uint64_t places = 0, begun = 0;  // as read before the packets
    std::uint64_t given = 0;              // as read behind them
    std::uint64_t first = 0, wanted = 0;  // index of the first packet; the number of packets that were asked for
    std::vector<std::byte> packets;

    std::span<const std::byte> packets_of(const Places& places) const;
    bool has(const Places& of) const {
      return program == of.program && queue == of.queue && of.index >= first && of.index + of.count <= first + wanted;
    }
  };
  void start(bool is_round) {
    is_round_ = is_round;
    views_.clear();
  }
  const View* view(const Memory& memory, const Places& places);
  std::optional<View> read(const Memory& memory, const Places& places) const;

  std::vector<View> views_;  // few: of each queue
  bool is_round_ = false;
};

}  // namespace fade
