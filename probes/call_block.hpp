// The words of many calls of one function in few bytes: the input of args_json(), as columns of differences. The writer
// packs blocks and fade-query reads them. Nothing in a packed block is trusted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/event.hpp"
#include "probes/arguments.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

inline constexpr std::size_t kMostCallsInABlock = 1024;
inline constexpr std::size_t kMostPayloadInABlock = 512;  // bytes of one call; larger pieces are left out of the block

// Collects calls of one function. Not thread-safe.
class CallPacker {
 public:
  explicit CallPacker(const Probe& probe);

  // `call` is the row of the call. Returns false, and does not take the call, if it has more stack words than a block
  // keeps.
  bool add(std::int64_t call, const CallRecord& record, Payload payload);
  std::size_t calls() const { return rows_.size(); }
  std::size_t words() const { return words_.size(); }  // words held in memory, 8 bytes each
  std::int64_t first() const { return first_; }        // lowest and highest call
  std::int64_t last() const { return last_; }
  // The block; the packer is empty afterwards.
  std::vector<std::byte> pack();

 private:
  std::size_t put_payload(Payload payload);

  std::size_t registers_;                           // the number of the six that carry arguments
  std::size_t most_payload_ = 0, size_before_ = 0;  // in words; size_before_: of the block before
  std::int64_t first_ = 0, last_ = 0;
  std::vector<std::uint64_t> words_;  // of each call: its row, its head, its registers, its payload
  std::vector<std::uint32_t> rows_;   // where each call begins in words_
};

// One call of a block: the parts that args_json() needs.
struct PackedCall {
  CallRecord record;
  std::vector<std::byte> payload;
};

// A block, unpacked.
class CallBlock {
 public:
  // Returns nullopt if `bytes` are not a block.
  static std::optional<CallBlock> unpack(std::span<const std::byte> bytes);
  std::size_t calls() const { return ids_.size(); }
  std::optional<PackedCall> find(std::int64_t call) const;

 private:
  std::vector<std::uint64_t> ids_, heads_;
  std::size_t registers_ = 0;
  std::vector<std::vector<std::uint64_t>> columns_;
  std::vector<std::uint32_t> by_id_;                // rows in the order of their ids
  std::vector<std::vector<std::uint32_t>> places_;  // of a row's word in a column of the payload
};

// The block with `by` added to the ids of its calls. Returns nullopt if `bytes` do not begin as a block does.
std::optional<std::vector<std::byte>> with_moved_calls(std::span<const std::byte> bytes, std::int64_t by);

}  // namespace fade::probes
