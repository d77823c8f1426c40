#include "cli/query/serve_lanes.hpp"

#include <algorithm>

namespace fade::query::live {

void Lane::add(const LaneCall& call, std::int64_t pixel) {
  while (!ends_.empty() && ends_.back() <= call.start) ends_.pop_back();
  const auto depth = static_cast<std::int64_t>(ends_.size());
  ends_.push_back(std::max(call.end, call.start + 1));
  ++calls_;
  put({call.id, call.start, call.end, call.name, depth, 1, call.failed ? 1 : 0}, pixel);
}

void Lane::put(const Item& item, std::int64_t pixel) {
  const auto depth = static_cast<std::size_t>(item.depth);
  if (last_.size() > depth) {
    Item& before = items_[last_[depth]];
    if (item.end - before.start < pixel) {
      before.end = std::max(before.end, item.end);
      before.n += item.n;
      before.errors += item.errors;
      return;
    }
  } else {
    last_.resize(depth + 1);
  }
  last_[depth] = items_.size();
  items_.push_back(item);
}

void Lane::coarsen(std::int64_t pixel) {
  const std::vector<Item> finer = std::move(items_);
  items_.clear();
  last_.clear();
  for (const Item& item : finer) put(item, pixel);
}

std::size_t Lanes::finish(std::size_t most) {
  std::vector<std::pair<std::int64_t, std::int64_t>> busiest;  // calls, lane
  for (const auto& [lane, calls] : lanes_) busiest.emplace_back(-calls.calls(), lane);
  std::ranges::sort(busiest);
  for (std::size_t i = most; i < busiest.size(); ++i) lanes_.erase(busiest[i].second);
  const auto items = [&] {
    std::size_t n = 0;
    for (const auto& [lane, calls] : lanes_) n += calls.items().size();
    return n;
  };
  for (int tries = 0; items() > kMostItems && tries < 40; ++tries) {
    pixel_ *= 2;
    for (auto& [lane, calls] : lanes_) calls.coarsen(pixel_);
  }
  return busiest.size() - lanes_.size();
}

}  // namespace fade::query::live
