#include "session/copy_owners.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace fade {
namespace {

constexpr std::size_t kBlock = 1 << 20, kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMostElements = 1024;        // of a vector; a machine has fewer devices
constexpr std::uint64_t kMostSearched = 1ULL << 30;  // bytes of data, all libraries together

// The words of a std::vector: its begin, its end, and the end of its memory.
using Words = std::array<std::uint64_t, 3>;

std::optional<int> index_in(const Words& vector, const CopyPlace& place) {
  const auto& [begin, end, room] = vector;
  if (begin == 0 || begin > place.at.value || end <= place.at.value || room < end) return std::nullopt;
  const std::uint64_t distance = place.at.value - begin;
  if (distance % place.size != 0 || (end - begin) % place.size != 0 || (room - begin) % place.size != 0)
    return std::nullopt;
  if ((end - begin) / place.size > kMostElements) return std::nullopt;
  return static_cast<int>(distance / place.size);
}

class Owners {
 public:
  explicit Owners(std::span<const CopyPlace> places) : places_(places), out_(places.size()) {
    for (const CopyPlace& place : places) {
      least_ = std::min(least_, place.at.value - std::min(place.at.value, kMostElements * place.size));
      most_ = std::max(most_, place.at.value);
    }
  }

  // Up to two words behind the last one are looked at as parts of a vector.
  void look(std::span<const std::byte> block, const std::string& library) {
    Words words{};
    for (std::size_t at = 0; at + kWord <= block.size(); at += kWord) {
      std::memcpy(words.data(), block.data() + at, kWord);
      if (words[0] < least_ || words[0] > most_) continue;
      words[1] = words[2] = 0;
      std::memcpy(words.data(), block.data() + at, std::min(block.size() - at, sizeof words));
      for (std::size_t i = 0; i < places_.size(); ++i) take(i, words, library);
    }
  }
  void lies_in(const LibraryData& data) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (data.range.contains(places_[i].at)) out_[i].library = data.library;
  }
  std::vector<CopyOwner> take_all() { return std::move(out_); }

 private:
  void take(std::size_t i, const Words& words, const std::string& library) {
    if (out_[i].index) return;
    if (const auto index = index_in(words, places_[i])) out_[i] = {library, index};
    else if (words[0] == places_[i].at.value && out_[i].library.empty()) out_[i].library = library;
  }

  const std::span<const CopyPlace> places_;
  std::vector<CopyOwner> out_;
  std::uint64_t least_ = ~std::uint64_t{0}, most_ = 0;
};

}  // namespace

std::vector<CopyOwner> owners_of(const Memory& memory, std::span<const LibraryData> data,
                                 std::span<const CopyPlace> places) {
  Owners owners(places);
  if (places.empty()) return {};
  std::vector<std::byte> buffer(kBlock + 2 * kWord);
  std::uint64_t searched = 0;
  for (const LibraryData& one : data) {
    owners.lies_in(one);
    for (RemoteAddr at = one.range.begin; at < one.range.end && searched < kMostSearched; at = at + kBlock) {
      const auto into = std::span(buffer).first(std::min<std::uint64_t>(one.range.end - at, buffer.size()));
      const std::size_t got = memory.read(at, into);
      owners.look(into.first(got), one.library);
      searched += kBlock;
    }
  }
  return owners.take_all();
}

}  // namespace fade
