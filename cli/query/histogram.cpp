#include "cli/query/histogram.hpp"

#include <cmath>

namespace fade::query {
namespace {

std::optional<std::uint64_t> leb128(std::span<const unsigned char>& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !in.empty() && shift < 64; shift += 7) {
    const unsigned char byte = in.front();
    in = in.subspan(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

double Histogram::begin_of(std::size_t bucket) {
  return bucket == 0 ? 0.0 : std::ldexp(2.0 + static_cast<double>(bucket % 2), static_cast<int>(6 + bucket / 2));
}

void Histogram::add(std::span<const unsigned char> blob) {
  while (!blob.empty()) {
    const auto bucket = leb128(blob), n = leb128(blob);
    if (!bucket || !n || *bucket >= kBuckets || *n > UINT64_MAX - count_) return;
    counts_[*bucket] += *n;
    count_ += *n;
  }
}

std::optional<double> Histogram::percentile(double share) const {
  if (count_ == 0) return std::nullopt;
  const double wanted = share * static_cast<double>(count_);
  double before = 0;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    const double here = static_cast<double>(counts_[b]);
    if (here > 0 && before + here >= wanted)
      return begin_of(b) + (begin_of(b + 1) - begin_of(b)) * (wanted - before) / here;
    before += here;
  }
  return begin_of(kBuckets);
}

}  // namespace fade::query
