// Calls as lanes to draw: one lane for each thread and each stream, nested calls below each other. Calls that are
// narrower than a pixel are drawn together. Knows no recording.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace fade::query::live {

// A part of the recording's time in ns, and how many pixels show it.
struct Window {
  std::int64_t from = 0, to = 1, width = 1000;

  std::int64_t pixel() const { return (to - from) / width + 1; }
};

struct LaneCall {
  std::int64_t id = 0, start = 0, end = 0;
  std::int64_t name = 0;
  bool failed = false;
};

// n calls, drawn as one thing if there are several. id and name: of the first.
struct Item {
  std::int64_t id = 0, start = 0, end = 0, name = 0;
  std::int64_t depth = 0, n = 1, errors = 0;
};

class Lane {
 public:
  // By time of entry. A call that began before the other one ended is inside it.
  void add(const LaneCall& call, std::int64_t pixel);
  // Draws more calls together.
  void coarsen(std::int64_t pixel);
  const std::vector<Item>& items() const { return items_; }
  std::int64_t depth() const { return static_cast<std::int64_t>(last_.size()); }
  std::int64_t calls() const { return calls_; }

 private:
  void put(const Item& item, std::int64_t pixel);

  std::vector<Item> items_;
  std::vector<std::int64_t> ends_;  // of the calls that are open
  std::vector<std::size_t> last_;   // for each depth, the place of its newest item
  std::int64_t calls_ = 0;
};

class Lanes {
 public:
  static constexpr std::size_t kMostItems = 6000;

  explicit Lanes(Window window) : pixel_(window.pixel()) {}
  void add(std::int64_t lane, const LaneCall& call) { lanes_[lane].add(call, pixel_); }
  // Keeps the `most` lanes with the most calls, returns the number of the others, and bounds the number of items.
  std::size_t finish(std::size_t most);
  const std::map<std::int64_t, Lane>& lanes() const { return lanes_; }

 private:
  std::map<std::int64_t, Lane> lanes_;
  std::int64_t pixel_;
};

}  // namespace fade::query::live
