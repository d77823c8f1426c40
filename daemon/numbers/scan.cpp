#include "numbers/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace fade::numbers {
namespace {

constexpr std::size_t kBlock = 4096;  // elements; counters of 16 bits hold it

// Bits of a float type: `Word` is signed, because compilers compare such vectors with one instruction.
template <class W, W kInfinityBits, W kQuietBit>
struct FloatBits {
  using Word = W;
  static constexpr bool kIsFloat = true;
  static constexpr Word kInfinity = kInfinityBits, kMagnitude = std::numeric_limits<Word>::max();

  // keys of the finite values
  static constexpr Word kHighest = static_cast<Word>(kInfinity - 1), kLowest = static_cast<Word>(-kInfinity);

  static Word magnitude(Word word) { return static_cast<Word>(word & kMagnitude); }
  // Ordered as the values are; -0 is below 0.
  static Word key(Word word) {
    return static_cast<Word>(word ^ (static_cast<Word>(word >> (sizeof(Word) * 8 - 1)) & kMagnitude));
  }
  // The NaN of AMD's and Intel's arithmetic, of either sign; of NVIDIA's: all bits set.
  static bool is_usual_nan(Word word) {
    const Word bits = magnitude(word);
    return bits == static_cast<Word>(kInfinity | kQuietBit) || bits == kMagnitude;
  }
};
template <class W, W kLow = std::numeric_limits<W>::min(), W kHigh = std::numeric_limits<W>::max()>
struct IntegerBits {
  using Word = W;
  static constexpr bool kIsFloat = false;
  static constexpr Word kLowest = kLow, kHighest = kHigh;
  static Word key(Word word) { return word; }
  static bool is_usual_nan(Word) { return false; }
};
using F64 = FloatBits<std::int64_t, 0x7ff0'0000'0000'0000, 0x0008'0000'0000'0000>;
using F32 = FloatBits<std::int32_t, 0x7f80'0000, 0x0040'0000>;
using F16 = FloatBits<std::int16_t, 0x7c00, 0x0200>;
using BF16 = FloatBits<std::int16_t, 0x7f80, 0x0040>;

template <class T>
struct Counted {
  using Word = typename T::Word;
  std::int64_t nan = 0, inf = 0, outside = 0;
  Word least = std::numeric_limits<Word>::max(), greatest = std::numeric_limits<Word>::min();

  void add(const Counted& other) {
    nan += other.nan;
    inf += other.inf;
    outside += other.outside;
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

// Limits as keys: a key below `least` or above `greatest` is outside.
template <class T>
struct KeyLimits {
  typename T::Word least = std::numeric_limits<typename T::Word>::min(),
                   greatest = std::numeric_limits<typename T::Word>::max();
};

template <class T>
double value_of_key(Dtype type, typename T::Word key) {
  const auto bits = T::key(key);  // its own inverse
  return value_of(type, static_cast<std::make_unsigned_t<typename T::Word>>(bits));
}

// Keys are in the order of their values. `is_enough` holds for a finite value and for all greater ones, or for no
// value. Gives the least key for which it holds; without such a value, one more than the greatest key.
template <class T, class Test>
__int128 least_key(Dtype type, Test&& is_enough) {
  __int128 low = T::kLowest, high = __int128{T::kHighest} + 1;
  while (low < high) {
    const __int128 middle = low + (high - low) / 2;
    if (is_enough(value_of_key<T>(type, static_cast<typename T::Word>(middle)))) high = middle;
    else low = middle + 1;
  }
  return low;
}

template <class T>
KeyLimits<T> key_limits(Dtype type, const Limits& limits) {
  using Word = typename T::Word;
  if (!limits.are_watched) return {};
  const __int128 least = least_key<T>(type, [&](double v) { return v >= limits.least; });
  const __int128 above = least_key<T>(type, [&](double v) { return v > limits.greatest; });
  if (least >= above) return {std::numeric_limits<Word>::max(), std::numeric_limits<Word>::min()};  // none is inside
  return {static_cast<Word>(least), static_cast<Word>(above - 1)};
}

// Sixteen bytes of elements: vector types of gcc and clang. A comparison gives all bits of an element, or none.
template <class Word>
struct Lanes {
  static constexpr std::size_t kCount = 16 / sizeof(Word);
  typedef Word Vector __attribute__((vector_size(16)));

  static Vector of(Word value) { return Vector{} + value; }
  static Vector chosen(Vector mask, Vector yes, Vector no) { return (mask & yes) | (~mask & no); }
};

// One element after the other; as many as a vector holds are one element here.
template <class T, bool kRange>
class LaneCount {
 public:
  using Word = typename T::Word;
  using L = Lanes<Word>;
  using Vector = typename L::Vector;

  explicit LaneCount(const KeyLimits<T>& limits)
      : least_limit_(L::of(limits.least)), most_limit_(L::of(limits.greatest)) {}

  void add(Vector word) {
    Vector finite = L::of(Word{-1});
    if constexpr (T::kIsFloat) {
      const Vector magnitude = word & T::kMagnitude;
      nan_ -= magnitude > T::kInfinity;
      inf_ -= magnitude == T::kInfinity;
      finite = magnitude < T::kInfinity;
    }
    if constexpr (kRange) {
      Vector key = word;
      if constexpr (T::kIsFloat) key ^= (word >> (sizeof(Word) * 8 - 1)) & T::kMagnitude;
      outside_ -= finite & ((key < least_limit_) | (key > most_limit_));
      least_ = L::chosen(finite & (key < least_), key, least_);
      greatest_ = L::chosen(finite & (key > greatest_), key, greatest_);
    }
  }
  Counted<T> counted() const {
    Counted<T> out;
    for (std::size_t i = 0; i < L::kCount; ++i) {
      out.nan += nan_[i];
      out.inf += inf_[i];
      out.outside += outside_[i];
      out.least = std::min<Word>(out.least, least_[i]);
      out.greatest = std::max<Word>(out.greatest, greatest_[i]);
    }
    return out;
  }

 private:
  const Vector least_limit_, most_limit_;
  Vector nan_{}, inf_{}, outside_{};
  Vector least_ = L::of(std::numeric_limits<Word>::max()), greatest_ = L::of(std::numeric_limits<Word>::min());
};

// SSE2 compares 64-bit integers in many steps, but doubles in one.
template <bool kRange>
class LaneCount<F64, kRange> {
 public:
  using Word = std::int64_t;
  using L = Lanes<Word>;
  using Vector = L::Vector;
  typedef double Doubles __attribute__((vector_size(16)));

  explicit LaneCount(const KeyLimits<F64>& limits)
      : least_limit_(Doubles{} + value_of_limit(limits.least)),
        most_limit_(Doubles{} + value_of_limit(limits.greatest)) {}

  void add(Vector word) {
    const Doubles value = as<Doubles>(word), magnitude = as<Doubles>(word & F64::kMagnitude);
    nan_ -= magnitude != magnitude;
    inf_ -= magnitude == kInfinite;
    if constexpr (kRange) {
      const Vector finite = magnitude < kInfinite;
      outside_ -= finite & ((value < least_limit_) | (value > most_limit_));
      least_ = as<Doubles>(L::chosen(finite & (value < least_), word, as<Vector>(least_)));
      greatest_ = as<Doubles>(L::chosen(finite & (value > greatest_), word, as<Vector>(greatest_)));
    }
  }
  Counted<F64> counted() const {
    Counted<F64> out;
    for (std::size_t i = 0; i < L::kCount; ++i) {
      out.nan += nan_[i];
      out.inf += inf_[i];
      out.outside += outside_[i];
      if (least_[i] < kInfinite) out.least = std::min(out.least, F64::key(std::bit_cast<Word>(least_[i])));
      if (greatest_[i] > -kInfinite) out.greatest = std::max(out.greatest, F64::key(std::bit_cast<Word>(greatest_[i])));
    }
    return out;
  }

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  template <class To, class From>
  static To as(From from) {
    To out;
    std::memcpy(&out, &from, sizeof out);
    return out;
  }
  // Keys beyond those of finite values stand for infinities.
  static double value_of_limit(Word key) {
    if (key > F64::kHighest) return kInfinite;
    return key < F64::kLowest ? -kInfinite : std::bit_cast<double>(F64::key(key));
  }

  const Doubles least_limit_, most_limit_;
  Vector nan_{}, inf_{}, outside_{};
  Doubles least_ = Doubles{} + kInfinite, greatest_ = Doubles{} - kInfinite;
};

// `n` is at most kBlock.
template <class T, bool kRange>
Counted<T> count(const typename T::Word* words, std::size_t n, const KeyLimits<T>& limits) {
  using L = Lanes<typename T::Word>;
  LaneCount<T, kRange> count(limits);
  const std::size_t whole = n / L::kCount * L::kCount;
  typename L::Vector vector;
  for (std::size_t i = 0; i < whole; i += L::kCount) {
    std::memcpy(&vector, words + i, sizeof vector);
    count.add(vector);
  }
  Counted<T> out = count.counted();
  if (whole == n) return out;
  // The rest, with repetitions of its first element, which are taken off again.
  LaneCount<T, kRange> rest(limits), repeated(limits);
  vector = L::of(words[whole]);
  repeated.add(vector);
  const Counted<T> again = repeated.counted();
  std::memcpy(&vector, words + whole, (n - whole) * sizeof(typename T::Word));
  rest.add(vector);
  Counted<T> more = rest.counted();
  const auto lanes = static_cast<std::int64_t>(L::kCount), extra = lanes - static_cast<std::int64_t>(n - whole);
  more.nan -= again.nan / lanes * extra;
  more.inf -= again.inf / lanes * extra;
  more.outside -= again.outside / lanes * extra;
  out.add(more);
  return out;
}

template <class T>
class BlockScan {
 public:
  using Word = typename T::Word;
  BlockScan(Dtype type, const Looked& looked)
      : type_(type), looked_(looked), limits_(key_limits<T>(type, looked.limits)) {}

  void add(const Word* words, std::size_t n, std::uint64_t at) {
    const Counted<T> block =
        looked_.limits.are_watched ? count<T, true>(words, n, limits_) : count<T, false>(words, n, limits_);
    found_.elements += n;
    found_.nan += static_cast<std::uint64_t>(block.nan);
    found_.inf += static_cast<std::uint64_t>(block.inf);
    found_.outside += static_cast<std::uint64_t>(block.outside);
    if (block.nan != 0) found_.odd_nan += odd(words, n);
    if (!found_.first && (block.nan | block.inf | block.outside) != 0) find_first(words, n, at);
    least_ = std::min(least_, block.least);
    greatest_ = std::max(greatest_, block.greatest);
  }
  Found found() const {
    Found out = found_;
    if (looked_.limits.are_watched && least_ <= greatest_) {
      out.least = value_of_key<T>(type_, least_);
      out.greatest = value_of_key<T>(type_, greatest_);
    }
    return out;
  }

 private:
  bool is_nan(Word word) const {
    if constexpr (T::kIsFloat) return T::magnitude(word) > T::kInfinity;
    return false;
  }
  bool is_looked_for(Word word) const {
    if constexpr (T::kIsFloat) {
      if (is_nan(word)) return looked_.nan;
      if (T::magnitude(word) == T::kInfinity) return looked_.inf;
    }
    return looked_.limits.are_watched && (T::key(word) < limits_.least || T::key(word) > limits_.greatest);
  }
  std::uint64_t odd(const Word* words, std::size_t n) const {
    return static_cast<std::uint64_t>(
        std::count_if(words, words + n, [&](Word word) { return is_nan(word) && !T::is_usual_nan(word); }));
  }
  void find_first(const Word* words, std::size_t n, std::uint64_t at) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_looked_for(words[i])) continue;
      found_.first = at + i;
      // a byte is looked at as a wider word
      const std::uint64_t all = size_of(type_) == 1 ? 0xff : ~std::uint64_t{0};
      found_.first_bits = static_cast<std::make_unsigned_t<Word>>(words[i]) & all;
      return;
    }
  }

  const Dtype type_;
  const Looked& looked_;
  const KeyLimits<T> limits_;
  Found found_;
  Word least_ = std::numeric_limits<Word>::max(), greatest_ = std::numeric_limits<Word>::min();
};

// Blocks that do not lie at a multiple of their element's size are copied first.
template <class T>
Found scan_all(Dtype type, const Looked& looked, std::span<const std::byte> bytes, std::uint64_t at) {
  using Word = typename T::Word;
  BlockScan<T> scan(type, looked);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Word) == 0;
  std::array<Word, kBlock> copy;
  const std::size_t elements = bytes.size() / sizeof(Word);
  for (std::size_t i = 0; i < elements; i += kBlock) {
    const std::size_t n = std::min(kBlock, elements - i);
    const std::byte* from = bytes.data() + i * sizeof(Word);
    if (!is_aligned) std::memcpy(copy.data(), from, n * sizeof(Word));
    scan.add(is_aligned ? reinterpret_cast<const Word*>(from) : copy.data(), n, at + i);
  }
  return scan.found();
}

// Bytes as words of 16 bits: counters of 8 bits would overflow.
template <class Byte>
Found scan_bytes(Dtype type, const Looked& looked, std::span<const std::byte> bytes, std::uint64_t at) {
  using Limits = std::numeric_limits<Byte>;
  BlockScan<IntegerBits<std::int16_t, Limits::min(), Limits::max()>> scan(type, looked);
  std::array<std::int16_t, kBlock> wide;
  for (std::size_t i = 0; i < bytes.size(); i += kBlock) {
    const std::size_t n = std::min(kBlock, bytes.size() - i);
    for (std::size_t k = 0; k < n; ++k) wide[k] = static_cast<Byte>(bytes[i + k]);
    scan.add(wide.data(), n, at + i);
  }
  return scan.found();
}

}  // namespace

void Found::add(const Found& later) {
  elements += later.elements;
  nan += later.nan;
  inf += later.inf;
  odd_nan += later.odd_nan;
  outside += later.outside;
  if (!first && later.first) {
    first = later.first;
    first_bits = later.first_bits;
  }
  if (later.least) least = least ? std::min(*least, *later.least) : *later.least;
  if (later.greatest) greatest = greatest ? std::max(*greatest, *later.greatest) : *later.greatest;
}

Found scan(Dtype type, const Looked& looked, std::span<const std::byte> bytes, std::uint64_t at) {
  switch (type) {
    case Dtype::F64: return scan_all<F64>(type, looked, bytes, at);
    case Dtype::F32: return scan_all<F32>(type, looked, bytes, at);
    case Dtype::F16: return scan_all<F16>(type, looked, bytes, at);
    case Dtype::BF16: return scan_all<BF16>(type, looked, bytes, at);
    case Dtype::I64: return scan_all<IntegerBits<std::int64_t>>(type, looked, bytes, at);
    case Dtype::I32: return scan_all<IntegerBits<std::int32_t>>(type, looked, bytes, at);
    case Dtype::I16: return scan_all<IntegerBits<std::int16_t>>(type, looked, bytes, at);
    case Dtype::I8: return scan_bytes<std::int8_t>(type, looked, bytes, at);
    case Dtype::U8: return scan_bytes<std::uint8_t>(type, looked, bytes, at);
    case Dtype::Unknown: break;
  }
  return {};
}

// ---------------------------------------------------------------- checksum

namespace {
constexpr std::uint64_t kFirst = 0x9E3779B185EBCA87u, kSecond = 0xC2B2AE3D27D4EB4Fu;

std::uint64_t stirred(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * kSecond, 31) * kFirst; }

std::uint64_t finished(std::uint64_t x) {
  x = (x ^ (x >> 33)) * kSecond;
  x = (x ^ (x >> 29)) * kFirst;
  return x ^ (x >> 32);
}
}  // namespace

void Checksum::add(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  while (bytes.size() >= sizeof lanes_) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data(), sizeof words);
    for (std::size_t i = 0; i < 4; ++i) lanes_[i] = stirred(lanes_[i], words[i]);
    bytes = bytes.subspan(sizeof words);
  }
  if (bytes.empty()) return;
  std::uint64_t words[4] = {};
  std::memcpy(words, bytes.data(), bytes.size());
  for (std::size_t i = 0; i < 4; ++i) lanes_[i] = stirred(lanes_[i], words[i]);
}

std::uint64_t Checksum::value() const {
  std::uint64_t out = size_;
  for (const std::uint64_t lane : lanes_) out = finished(out ^ lane) + kFirst;
  return finished(out);
}

}  // namespace fade::numbers
