#include "cli/timeline/interned.hpp"

namespace fade::timeline {
namespace {

constexpr std::uint32_t kNumber = 1, kText = 2;  // of an entry in each list
constexpr std::size_t kOverhead = 100;           // of an entry of the map

// event_categories, event_names, debug_annotation_names, debug_annotation_string_values.
constexpr std::array<std::uint32_t, kWordLists> kFields{1, 2, 3, 29};

}  // namespace

std::uint64_t Interned::number(Words list, std::string_view text) {
  Numbers& numbers = lists_[static_cast<std::size_t>(list)];
  if (const auto known = numbers.find(text); known != numbers.end()) return known->second;
  const std::uint64_t number = numbers.size() + 1;
  numbers.emplace(std::string(text), number);
  bytes_ += text.size() + kOverhead;
  Message entry;
  entry.number(kNumber, number);
  entry.text(kText, text);
  fresh_.message(kFields[static_cast<std::size_t>(list)], entry);
  return number;
}

void Interned::forget() {
  for (Numbers& numbers : lists_) numbers.clear();
  bytes_ = 0;
}

}  // namespace fade::timeline
