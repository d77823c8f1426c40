#include "tap/tables.hpp"

namespace fade::tap {
namespace {

constexpr std::uint64_t kPair = 16, kKey = 8;

std::uint64_t key_of(std::uint16_t function, RemoteAddr return_address) {
  return static_cast<std::uint64_t>(function) << SiteTable::kAddressBits | return_address.value;
}

}  // namespace

// The ring is written before the thread pointer, which makes the pair valid.
std::vector<Word> ThreadTable::add(std::uint64_t thread_pointer, RemoteAddr ring) {
  if (places_.contains(thread_pointer)) return {};
  const std::uint64_t bucket = bucket_of(thread_pointer);
  for (std::uint64_t at = bucket; at < bucket + DataLayout::kThreadsInBucket * kPair; at += kPair) {
    if (is_taken(at)) continue;
    places_[thread_pointer] = at;
    taken_[at] = thread_pointer;
    return {{table_ + at + 8, ring.value}, {table_ + at, thread_pointer}};
  }
  return {};
}

std::optional<Word> ThreadTable::remove(std::uint64_t thread_pointer) {
  const auto found = places_.find(thread_pointer);
  if (found == places_.end()) return std::nullopt;
  const std::uint64_t at = found->second;
  taken_.erase(at);
  places_.erase(found);
  return Word{table_ + at, 0};
}

std::optional<std::uint64_t> SiteTable::free_place(std::uint64_t bucket) const {
  for (std::uint64_t at = bucket; at < bucket + DataLayout::kSitesInBucket * kKey; at += kKey)
    if (!taken_.contains(at)) return at;
  return std::nullopt;
}

std::optional<Word> SiteTable::add(std::uint16_t function, RemoteAddr return_address) {
  const std::uint64_t key = key_of(function, return_address);
  const auto place = free_place(bucket_of(key));
  if (!place || !places_.try_emplace(key, *place).second) return std::nullopt;
  taken_[*place] = key;
  return Word{table_ + *place, key};
}

bool SiteTable::contains(std::uint16_t function, RemoteAddr return_address) const {
  return places_.contains(key_of(function, return_address));
}

std::vector<Word> SiteTable::forget(RemoteRange range) {
  constexpr std::uint64_t kAddress = (std::uint64_t{1} << kAddressBits) - 1;
  return forget_if([&](std::uint64_t key) { return range.contains({key & kAddress}); });
}

std::vector<Word> SiteTable::forget(std::uint16_t function) {
  return forget_if([&](std::uint64_t key) { return key >> kAddressBits == function; });
}

template <class IsGone>
std::vector<Word> SiteTable::forget_if(IsGone&& is_gone) {
  std::vector<Word> out;
  for (auto it = places_.begin(); it != places_.end();) {
    if (!is_gone(it->first)) {
      ++it;
      continue;
    }
    out.push_back({table_ + it->second, 0});
    taken_.erase(it->second);
    it = places_.erase(it);
  }
  return out;
}

}  // namespace fade::tap
