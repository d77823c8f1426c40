#include "numbers/guess.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fade::numbers {
namespace {

constexpr std::size_t kGroups = 512;  // words of eight bytes that are looked at

// A type's bits, and the exponents of usual values.
struct FloatShape {
  int exponent_bits, mantissa_bits;
  int least, greatest;  // biased exponents
};
constexpr FloatShape kF64{11, 52, 1023 - 64, 1023 + 64}, kF32{8, 23, 127 - 40, 127 + 40},
    kBF16{8, 7, 127 - 40, 127 + 23}, kF16{5, 10, 1, 22};

struct FloatWord {
  std::uint64_t bits;
  const FloatShape& shape;

  int exponent() const { return static_cast<int>(bits >> shape.mantissa_bits & ((1u << shape.exponent_bits) - 1)); }
  std::uint64_t mantissa() const { return bits & ((std::uint64_t{1} << shape.mantissa_bits) - 1); }
  bool is_negative() const { return bits >> (shape.exponent_bits + shape.mantissa_bits) & 1; }
  // Infinity, and the NaN that hardware makes.
  bool is_special() const {
    if (exponent() != (1 << shape.exponent_bits) - 1) return false;
    const std::uint64_t quiet = std::uint64_t{1} << (shape.mantissa_bits - 1), all = 2 * quiet - 1;
    return mantissa() == 0 || mantissa() == quiet || (mantissa() == all && !is_negative() && shape.mantissa_bits > 10);
  }
  bool is_usual() const { return exponent() >= shape.least && exponent() <= shape.greatest; }
};

// How words look as floats of one type.
struct Look {
  std::size_t nonzero = 0, fitting = 0, special = 0, negative = 0;
  std::size_t most_of_one_exponent = 0;

  bool fits(double share) const {
    return nonzero > 0 && static_cast<double>(fitting) >= share * static_cast<double>(nonzero);
  }
  bool has_both_signs() const { return 10 * negative >= nonzero && 10 * (nonzero - negative) >= nonzero; }
};

template <class Bits>
Look look(std::span<const Bits> words, const FloatShape& shape) {
  Look out;
  std::vector<std::size_t> exponents(std::size_t{1} << shape.exponent_bits);
  for (const Bits bits : words) {
    if (bits == 0) continue;
    const FloatWord word{bits, shape};
    ++out.nonzero;
    out.special += word.is_special();
    out.fitting += word.is_special() || word.is_usual();
    out.negative += word.is_negative();
    ++exponents[static_cast<std::size_t>(word.exponent())];
  }
  out.most_of_one_exponent = *std::max_element(exponents.begin(), exponents.end());
  return out;
}

bool is_text(std::span<const std::byte> bytes) {
  return bytes.size() >= 16 && std::all_of(bytes.begin(), bytes.end(), [](std::byte b) {
           const auto c = std::to_integer<unsigned char>(b);
           return (c >= 0x20 && c < 0x7f) || (c >= 8 && c <= 13);
         });
}

// Words spread over a buffer, as words of each size.
class Sample {
 public:
  explicit Sample(std::span<const std::byte> bytes) {
    const std::size_t groups = bytes.size() / 8, taken = std::min(groups, kGroups);
    bytes_.resize(taken * 8);
    for (std::size_t i = 0; i < taken; ++i)
      std::memcpy(bytes_.data() + i * 8, bytes.data() + i * groups / taken * 8, 8);
    const auto rest = bytes.subspan(groups * 8);
    if (taken < kGroups) bytes_.insert(bytes_.end(), rest.begin(), rest.end());
  }
  template <class Bits>
  std::vector<Bits> words() const {
    std::vector<Bits> out(bytes_.size() / sizeof(Bits));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data(), out.size() * sizeof(Bits));
    return out;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::size_t nonzero_of_each_second(const std::vector<std::uint32_t>& words) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < words.size(); i += 2) n += words[i] != 0;
  return n;
}

// Types of two bytes have few exponents, so they need many words and more signs of a float.
Dtype half_type(std::span<const std::uint16_t> halves) {
  constexpr std::size_t kEnough = 32;
  std::size_t low = 0;  // halves that would be the low half of a wider word
  for (std::size_t i = 0; i < halves.size(); i += 2) low += halves[i] != 0;
  if (low * 4 < halves.size()) return Dtype::Unknown;
  const Look bf16 = look(halves, kBF16), f16 = look(halves, kF16);
  const bool is_bf16 =
      bf16.nonzero >= kEnough && bf16.fits(0.95) && (bf16.has_both_signs() || bf16.special == bf16.nonzero);
  const bool is_f16 = f16.nonzero >= kEnough && f16.fits(0.98) && f16.has_both_signs();
  // Values gather at few exponents. The exponent of a bf16 has three bits of the mantissa of an f16.
  if (is_bf16 && (!is_f16 || bf16.most_of_one_exponent * 7 >= bf16.nonzero)) return Dtype::BF16;
  return is_f16 ? Dtype::F16 : Dtype::Unknown;
}

template <class Bits>
bool are_small(std::span<const Bits> words) {
  using Signed = std::make_signed_t<Bits>;
  constexpr Signed kSmall = 1 << 24;
  return std::all_of(words.begin(), words.end(), [](Bits word) {
    const auto value = static_cast<Signed>(word);
    return value > -kSmall && value < kSmall;
  });
}

Dtype integer_type(const Sample& sample) {
  const auto wide = sample.words<std::uint64_t>();
  const auto words = sample.words<std::uint32_t>();
  if (!wide.empty() && are_small<std::uint64_t>(wide)) return Dtype::I64;
  return words.size() >= 4 && are_small<std::uint32_t>(words) ? Dtype::I32 : Dtype::Unknown;
}

Dtype type_of(const Sample& sample) {
  if (is_text(sample.bytes())) return Dtype::Unknown;
  const auto wide = sample.words<std::uint64_t>();
  const auto words = sample.words<std::uint32_t>();
  const auto halves = sample.words<std::uint16_t>();
  if (const Dtype half = half_type(halves); half != Dtype::Unknown) return half;
  const bool is_f32 = look<std::uint32_t>(words, kF32).fits(0.95);
  const bool is_f64 = look<std::uint64_t>(wide, kF64).fits(0.95);
  // 1.0 and 2.0 as f64 have a low half of zeros.
  if (is_f64 && (!is_f32 || nonzero_of_each_second(words) == 0)) return Dtype::F64;
  return is_f32 ? Dtype::F32 : integer_type(sample);
}

}  // namespace

Guess guess(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return {};
  const Sample sample(bytes);
  const auto all = sample.bytes();
  if (std::all_of(all.begin(), all.end(), [](std::byte b) { return b == std::byte{}; })) return {};
  return {true, type_of(sample)};
}

}  // namespace fade::numbers
