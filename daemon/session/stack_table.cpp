#include "session/stack_table.hpp"

namespace fade {

StackId StackTable::remembered(std::uint64_t hash) const {
  const auto it = remembered_.find(hash);
  return it != remembered_.end() ? it->second : StackId{};
}

void StackTable::remember(std::uint64_t hash, StackId stack) {
  if (remembered_.size() >= limits_.hashes) remembered_.clear();
  remembered_[hash] = stack;
}

FrameId StackTable::frame(const FrameKey& key, const std::function<FrameSeen()>& describe) {
  if (const auto it = frames_.find(key); it != frames_.end()) return it->second;
  if (frames_.size() >= limits_.frames) return 0;
  const auto id = FrameId::of(static_cast<std::uint32_t>(frames_.size() + 1));
  frames_.emplace(key, id);
  FrameSeen seen = describe();
  seen.frame = id;
  sink_.notice(std::move(seen));
  return id;
}

StackId StackTable::on_top(StackId parent, FrameId frame) {
  if (frame == 0) return 0;
  const std::uint64_t key = std::uint64_t{parent.value()} << 32 | frame.value();
  if (const auto it = stacks_.find(key); it != stacks_.end()) return it->second;
  if (stacks_.size() >= limits_.stacks) return 0;
  const auto id = StackId::of(static_cast<std::uint32_t>(stacks_.size() + 1));
  stacks_.emplace(key, id);
  sink_.notice(StackSeen{id, parent, frame});
  return id;
}

}  // namespace fade
