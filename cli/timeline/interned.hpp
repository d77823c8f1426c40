// Texts that a trace for Perfetto names by numbers after their first use, and the message that introduces them. What is
// kept is bounded: when there is too much, all numbers begin again.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/timeline/protobuf.hpp"

namespace fade::timeline {

// Each is a list of the message InternedData.
enum class Words : std::size_t { Category, Event, ArgumentName, ArgumentText };
inline constexpr std::size_t kWordLists = 4;

class Interned {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  // The number of the text. New ones are in message() until clear_new().
  std::uint64_t number(Words list, std::string_view text);
  const Message& fresh() const { return fresh_; }
  void clear_fresh() { fresh_.clear(); }
  bool is_full() const { return bytes_ > kMostBytes; }
  void forget();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Numbers = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

  std::array<Numbers, kWordLists> lists_;
  Message fresh_;
  std::size_t bytes_ = 0;
};

}  // namespace fade::timeline
