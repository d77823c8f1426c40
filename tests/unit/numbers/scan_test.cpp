#include "numbers/scan.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace fade::numbers {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

constexpr Looked kAll{.nan = true, .inf = true, .limits = {}};
Looked range(double least, double greatest) { return {true, true, {true, least, greatest}}; }

// One element after the other, with the arithmetic of double.
Found by_value(Dtype type, const Looked& looked, std::span<const std::byte> bytes) {
  Found out;
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i + size <= bytes.size(); i += size, ++out.elements) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, size);
    const double value = value_of(type, bits);
    const bool is_nan = std::isnan(value), is_inf = std::isinf(value);
    const bool is_outside = looked.limits.are_watched && std::isfinite(value) &&
                            (value < looked.limits.least || value > looked.limits.greatest);
    out.nan += is_nan;
    out.inf += is_inf;
    out.outside += is_outside;
    if (!out.first && (is_nan || is_inf || is_outside)) {
      out.first = out.elements;
      out.first_bits = bits;
    }
    if (!looked.limits.are_watched || !std::isfinite(value)) continue;
    out.least = std::min(out.least.value_or(value), value);
    out.greatest = std::max(out.greatest.value_or(value), value);
  }
  return out;
}

void expect_equal(const Found& got, const Found& wanted, const std::string& where) {
  EXPECT_EQ(got.elements, wanted.elements) << where;
  EXPECT_EQ(got.nan, wanted.nan) << where;
  EXPECT_EQ(got.inf, wanted.inf) << where;
  EXPECT_EQ(got.outside, wanted.outside) << where;
  EXPECT_EQ(got.first, wanted.first) << where;
  if (got.first) {
    EXPECT_EQ(got.first_bits, wanted.first_bits) << where;
  }
  EXPECT_EQ(got.least, wanted.least) << where;
  EXPECT_EQ(got.greatest, wanted.greatest) << where;
}

class EachType : public testing::TestWithParam<Dtype> {};

TEST_P(EachType, CountsAsTheSlowWayDoes) {
  std::mt19937_64 random(static_cast<unsigned>(GetParam()) + 7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes(random() % 20000);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    if (round % 3 == 0)  // NaN are rare in random doubles
      for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8 * (1 + random() % 50)) {
        const std::uint64_t special[] = {
            0x7ff8'0000'0000'0000, 0xfff0'0000'0000'0000, 0x7f80'0000'ffc0'0000, 0x7c00'fc00'7e00'0001, 1,
            0x8000'0000'0000'0001};
        std::memcpy(bytes.data() + i, &special[random() % 6], 8);
      }
    const double a = std::ldexp(static_cast<double>(random() % 2000) - 1000, static_cast<int>(random() % 40) - 20);
    const double b = std::ldexp(static_cast<double>(random() % 2000) - 1000, static_cast<int>(random() % 40) - 20);
    const Looked looked = round % 2 ? kAll : range(std::min(a, b), std::max(a, b));
    expect_equal(scan(GetParam(), looked, bytes), by_value(GetParam(), looked, bytes), std::to_string(round));
  }
}

// A buffer begins where its program put it.
TEST_P(EachType, ReadsAtAnyAddress) {
  std::mt19937 random(5);
  std::vector<std::byte> memory(5000);
  for (std::byte& b : memory) b = static_cast<std::byte>(random());
  for (std::size_t shift = 0; shift < 9; ++shift) {
    const auto bytes = std::span(memory).subspan(shift);
    expect_equal(scan(GetParam(), kAll, bytes), by_value(GetParam(), kAll, bytes), std::to_string(shift));
  }
}

TEST_P(EachType, KnowsLimitsThatAreNoValueOfTheType) {
  std::vector<std::byte> bytes(4096);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const auto& [least, greatest] : std::initializer_list<std::pair<double, double>>{{-1e300, 1e300},
                                                                                        {1e300, 1e301},
                                                                                        {-1e301, -1e300},
                                                                                        {0.1, 0.3},
                                                                                        {-kInfinite, 0},
                                                                                        {0, kInfinite},
                                                                                        {-128, 127},
                                                                                        {0, 255},
                                                                                        {-32768, 32767},
                                                                                        {1e-310, 1e-300}})
    expect_equal(scan(GetParam(), range(least, greatest), bytes), by_value(GetParam(), range(least, greatest), bytes),
                 std::to_string(least) + ".." + std::to_string(greatest));
}

INSTANTIATE_TEST_SUITE_P(Scan, EachType,
                         testing::Values(Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::I64, Dtype::I32,
                                         Dtype::I16, Dtype::I8, Dtype::U8),
                         [](const auto& about) { return std::string(name_of(about.param)); });

TEST(Scan, EachHalfIsReadRight) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const Found f16 = scan(Dtype::F16, kAll, bytes_of(all)), bf16 = scan(Dtype::BF16, kAll, bytes_of(all));
  EXPECT_EQ(f16.nan, 2u * 1023);
  EXPECT_EQ(bf16.nan, 2u * 127);
  EXPECT_EQ(f16.inf, 2u);
  EXPECT_EQ(bf16.inf, 2u);
}

TEST(Scan, PayloadsOfNanAreNanAndTheOddOnesAreKnown) {
  const std::vector<std::uint32_t> words{0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001, 0xffbfffff, 0x7fc00001};
  const Found found = scan(Dtype::F32, kAll, bytes_of(words));
  EXPECT_EQ(found.nan, 6u);
  EXPECT_EQ(found.odd_nan, 3u);
}

TEST(Scan, SubnormalsAndZerosAreNumbers) {
  const std::vector<float> values{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(),
                                  -std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min()};
  const Found found = scan(Dtype::F32, range(-1, 1), bytes_of(values));
  EXPECT_FALSE(found.has_any());
  EXPECT_EQ(found.least, -static_cast<double>(std::numeric_limits<float>::denorm_min()));
}

TEST(Scan, TheFirstIsOfTheKindThatIsLookedFor) {
  const std::vector<float> values{1, INFINITY, NAN, 5};
  EXPECT_EQ(scan(Dtype::F32, {.nan = true, .inf = false, .limits = {}}, bytes_of(values)).first, 2u);
  EXPECT_EQ(scan(Dtype::F32, {.nan = false, .inf = true, .limits = {}}, bytes_of(values)).first, 1u);
  EXPECT_EQ(scan(Dtype::F32, kAll, bytes_of(values), 100).first, 101u);
}

TEST(Scan, BytesBehindTheLastElementAreNone) {
  std::vector<std::byte> bytes(4099, std::byte{0xff});
  EXPECT_EQ(scan(Dtype::F32, kAll, bytes).elements, 1024u);
  EXPECT_EQ(scan(Dtype::F64, kAll, std::span(bytes).first(7)).elements, 0u);
  EXPECT_EQ(scan(Dtype::Unknown, kAll, bytes).elements, 0u);
}

TEST(Checksum, PiecesMakeTheSameSum) {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  Checksum whole, parts;
  whole.add(bytes);
  parts.add(std::span(bytes).first(320));
  parts.add(std::span(bytes).subspan(320));
  EXPECT_EQ(whole.value(), parts.value());
}

TEST(Checksum, EachBitThePlaceAndTheLengthCount) {
  std::vector<std::byte> bytes(100);
  const auto sum = [&] {
    Checksum out;
    out.add(bytes);
    return out.value();
  };
  std::vector<std::uint64_t> all{sum()};
  for (std::size_t bit = 0; bit < 800; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    all.push_back(sum());
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  for (bytes.clear(); bytes.size() < 70; bytes.emplace_back()) all.push_back(sum());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace fade::numbers
