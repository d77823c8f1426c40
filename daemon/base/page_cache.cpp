#include "base/page_cache.hpp"

namespace fade {

const PageCache::Page* PageCache::page(RemoteAddr at) const {
  if (const auto known = pages_.find(at); known != pages_.end()) return known->second.get();
  if (pages_.size() >= kMostPages) pages_.clear();
  auto fresh = std::make_unique_for_overwrite<Page>();
  if (!memory_.read_exactly(at, *fresh)) fresh.reset();
  return (pages_[at] = std::move(fresh)).get();
}

std::size_t PageCache::read(RemoteAddr from, std::span<std::byte> into) const {
  if (into.size() > kLargest || from.value > ~std::uint64_t{0} - into.size()) return memory_.read(from, into);
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t offset = (from.value + done) % kPage, some = std::min(into.size() - done, kPage - offset);
    const Page* const whole = page(from + done - offset);
    if (!whole) break;
    std::memcpy(into.data() + done, whole->data() + offset, some);
    done += some;
  }
  return done;
}

}  // namespace fade
