// Frames and stacks of a session, each sent once. Stacks are a tree, so their common part is stored once. A stack that
// was seen before is known by a hash of its words alone. Bounded: the program decides how many calls there are.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "base/event.hpp"

namespace fade {

struct FrameKey {
  std::uint64_t owner = 0;  // number of the program, and of the module or the kind of frame
  std::uint64_t what = 0;
  bool operator==(const FrameKey&) const = default;
};

}  // namespace fade

template <>
struct std::hash<fade::FrameKey> {
  std::size_t operator()(const fade::FrameKey& key) const noexcept {
    return (key.owner * 0x9E37'79B9'7F4A'7C15U ^ key.what) * 0xD6E8'FEB8'6659'FD93U >> 16;
  }
};

namespace fade {

class StackTable {
 public:
  struct Limits {
    std::size_t frames = 500'000, stacks = 1'000'000, hashes = 200'000;
  };
  explicit StackTable(EventSink& sink) : StackTable(sink, Limits()) {}
  StackTable(EventSink& sink, Limits limits) : sink_(sink), limits_(limits) {}

  // The stack that was remembered with that hash; 0: none.
  StackId remembered(std::uint64_t hash) const;
  void remember(std::uint64_t hash, StackId stack);

  // 0: there is no room for another one. `describe` fills in all but the number.
  FrameId frame(const FrameKey& key, const std::function<FrameSeen()>& describe);
  // `frame` on top of `parent`. 0: there is no room, or `frame` is 0.
  StackId on_top(StackId parent, FrameId frame);

  std::size_t stacks() const { return stacks_.size(); }

 private:
  EventSink& sink_;
  Limits limits_;
  std::unordered_map<FrameKey, FrameId> frames_;
  std::unordered_map<std::uint64_t, StackId> stacks_;  // parent and frame
  std::unordered_map<std::uint64_t, StackId> remembered_;
};

}  // namespace fade
