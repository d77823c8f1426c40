// Memory whose pages are read once and kept, so many small reads cost one. Valid only while the memory does not change,
// such as one look at libraries while the loader waits. Owns its copies; the Memory behind it must outlive it.
#pragma once
#include <memory>
#include <unordered_map>

#include "base/remote.hpp"

namespace fade {

class PageCache final : public Memory {
 public:
  explicit PageCache(const Memory& memory) : memory_(memory) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;

 private:
  static constexpr std::size_t kPage = 4096, kMostPages = 4096, kLargest = 4 * kPage;
  using Page = std::array<std::byte, kPage>;
  const Page* page(RemoteAddr at) const;

  const Memory& memory_;
  mutable std::unordered_map<RemoteAddr, std::unique_ptr<Page>> pages_;  // null: unreadable
};

}  // namespace fade
