// A hash map with keys that come again and again, as a program's functions, kernels and callers do: the last node found
// is kept at hand. References hold until the map is cleared.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace fade::store {

template <class Key, class Value, class Hash = std::hash<Key>>
class RecentMap {
 public:
  Value& operator[](const Key& key) {
    Entry*& recent = recent_[static_cast<std::uint64_t>(Hash{}(key)) * 0x9E3779B97F4A7C15u >> (64 - kBits)];
    if (!recent || !(recent->first == key)) recent = &*map_.try_emplace(key).first;
    return recent->second;
  }
  void clear() {
    recent_ = {};
    map_.clear();
  }
  std::size_t size() const { return map_.size(); }
  auto begin() { return map_.begin(); }
  auto end() { return map_.end(); }
  const std::unordered_map<Key, Value, Hash>& all() const { return map_; }

 private:
  using Entry = std::pair<const Key, Value>;
  static constexpr int kBits = 6;

  std::unordered_map<Key, Value, Hash> map_;
  std::array<Entry*, std::size_t{1} << kBits> recent_{};
};

}  // namespace fade::store
