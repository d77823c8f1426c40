#include "tap/code_bytes.hpp"

#include <cstring>

#include "base/result.hpp"

namespace fade::tap {

CodeBytes::Label CodeBytes::label() {
  places_.emplace_back();
  return places_.size() - 1;
}

const std::vector<std::uint8_t>& CodeBytes::finish() {
  for (const auto& [at, to] : references_) {
    FADE_CHECK(places_[to]);
    const auto distance = static_cast<std::int32_t>(places_[to].value - (at_.value + at + 4));
    std::memcpy(&bytes_[at], &distance, sizeof distance);
  }
  references_.clear();
  return bytes_;
}

void CodeBytes::word32(std::uint64_t value) {
  for (int shift = 0; shift < 32; shift += 8) byte(value >> shift);
}

void CodeBytes::relative(RemoteAddr to, std::size_t behind) { word32(to.value - (here().value + 4 + behind)); }

void CodeBytes::relative(Label to) {
  references_.push_back({bytes_.size(), to});
  word32(0);
}

}  // namespace fade::tap
