#include "numbers/guess.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "numbers/buffer_scan.hpp"

namespace fade::numbers {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes raw_bytes(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}
template <class T>
Bytes made(std::size_t n, const std::function<T(std::size_t)>& make) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = make(i);
  return raw_bytes(values);
}

std::uint16_t bf16(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }
std::uint16_t f16(float value) {  // of values that an f16 has; cut
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 255) - 112;
  if (exponent <= 0) return static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (exponent << 10) | (bits >> 13 & 1023));
}

struct Normal {
  std::mt19937 random{3};
  std::normal_distribution<float> normal{0, 1};
  float operator()() { return normal(random); }
};

Dtype guessed(const Bytes& bytes) { return guess(bytes).type; }
Seen seen(const Bytes& bytes) {
  static const WatchRule rule = *parse_watch_rule("nan,inf");
  BufferScan scan(rule);
  for (const Piece& piece : pieces_of(bytes.size(), bytes.size()))
    scan.add(std::span(bytes).subspan(piece.at, piece.size), piece.at);
  return scan.result();
}

TEST(Guess, NormalNumbersAreKnownByTheirType) {
  for (const float scale : {1e-4f, 0.02f, 1.0f, 100.0f}) {
    Normal next;
    EXPECT_EQ(guessed(made<float>(5000, [&](auto) { return next() * scale; })), Dtype::F32) << scale;
    EXPECT_EQ(guessed(made<double>(5000, [&](auto) { return next() * scale; })), Dtype::F64) << scale;
    EXPECT_EQ(guessed(made<std::uint16_t>(5000, [&](auto) { return bf16(next() * scale); })), Dtype::BF16) << scale;
  }
  Normal next;
  EXPECT_EQ(guessed(made<std::uint16_t>(5000, [&](auto) { return f16(next()); })), Dtype::F16);
  EXPECT_EQ(guessed(made<std::uint16_t>(5000, [&](auto) { return f16(next() * 0.02f); })), Dtype::F16);
}

TEST(Guess, ShortMantissasAndSparseValues) {
  EXPECT_EQ(guessed(made<float>(1000, [](std::size_t i) { return static_cast<float>(i % 7); })), Dtype::F32);
  EXPECT_EQ(guessed(made<double>(1000, [](std::size_t i) { return static_cast<double>(i % 7); })), Dtype::F64);
  EXPECT_EQ(guessed(made<float>(1000, [](std::size_t i) { return i % 10 ? 0.0f : 0.37f; })), Dtype::F32);
  EXPECT_FALSE(guess(Bytes(1000)).has_evidence);
}

TEST(Guess, OneNumberIsKnown) {
  EXPECT_EQ(guessed(raw_bytes(std::vector{2.31f})), Dtype::F32);
  EXPECT_EQ(guessed(raw_bytes(std::vector{std::uint32_t{0x7fc00000}})), Dtype::F32);
  EXPECT_EQ(guessed(raw_bytes(std::vector{1.5})), Dtype::F64);
  EXPECT_EQ(guessed(raw_bytes(std::vector{std::uint64_t{0xfff8000000000000}})), Dtype::F64);
  EXPECT_EQ(guessed(raw_bytes(std::vector{7})), Dtype::Unknown);
}

TEST(Guess, NanAndInfinityAreFoundInGuessedBuffers) {
  Normal next;
  std::vector<float> values(100'000);
  for (float& value : values) value = next();
  values[777] = std::bit_cast<float>(0xffc00000u);
  values[99'999] = INFINITY;
  const Seen some = seen(raw_bytes(values));
  EXPECT_EQ(some.type, Dtype::F32);
  EXPECT_TRUE(some.is_guess);
  EXPECT_EQ(some.found.nan, 1u);
  EXPECT_EQ(some.found.inf, 1u);
  EXPECT_EQ(some.found.first, 777u);
  const Seen all = seen(raw_bytes(std::vector<std::uint32_t>(1000, 0x7fc00000)));
  EXPECT_EQ(all.type, Dtype::F32);
  EXPECT_EQ(all.found.nan, 1000u);
  EXPECT_EQ(seen(raw_bytes(std::vector<std::uint16_t>(1000, 0x7fc0))).found.nan, 1000u);
}

struct Data {
  std::string name;
  std::function<Bytes(std::mt19937&, std::size_t)> make;
};

std::vector<Data> other_data() {
  const auto each = [](auto&& byte) {
    return [byte](std::mt19937& random, std::size_t n) {
      Bytes out(n);
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(byte(random, i));
      return out;
    };
  };
  const auto words = [](auto&& word) {
    return [word](std::mt19937& random, std::size_t n) {
      std::vector<std::int32_t> out(n / 4 + 1);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int32_t>(word(random, i));
      return raw_bytes(out);
    };
  };
  return {
      {"random", each([](auto& r, auto) { return r(); })},
      {"all set", each([](auto&, auto) { return 255; })},
      {"text", each([](auto& r, auto) { return "The quick brown fox {|}~\n"[r() % 25]; })},
      {"csv", each([](auto& r, auto) { return "0123456789.,-\n"[r() % 14]; })},
      {"image", each([](auto& r, auto i) { return (i / 64 + r() % 9) % 256; })},
      {"dark image with white", each([](auto& r, auto) { return r() % 30 == 0 ? 255 : r() % 60; })},
      {"grey image with white", each([](auto& r, auto) { return r() % 30 == 0 ? 255 : 60 + r() % 12; })},
      {"rgba", each([](auto& r, auto i) { return i % 4 == 3 ? 255 : r() % 256; })},
      {"mask", each([](auto& r, auto) { return r() % 2 ? 255 : 0; })},
      {"small numbers", words([](auto& r, auto) { return r() % 1000; })},
      {"signed numbers", words([](auto& r, auto) { return static_cast<int>(r() % 2000) - 1000; })},
      {"indexes", words([](auto&, auto i) { return i * 3; })},
      {"times", words([](auto& r, auto) { return 1'700'000'000 + r() % 100'000; })},
      {"token ids of 64 bits", words([](auto& r, auto i) { return i % 2 ? 0 : r() % 50'000; })},
      {"pointers", words([](auto& r, auto i) { return i % 2 ? 0x7f12 : r(); })},
      {"audio", words([](auto& r, auto) {
         const auto sample = [&] { return static_cast<std::uint16_t>((static_cast<int>(r() % 2000) - 1000) * 3); };
         return sample() | static_cast<std::uint32_t>(sample()) << 16;
       })},
      {"loud audio", words([](auto& r, auto) {
         const auto sample = [&] { return static_cast<std::uint16_t>(r() % 5 ? r() : 0x7fff); };
         return sample() | static_cast<std::uint32_t>(sample()) << 16;
       })},
  };
}

// The promise to the user: no NaN is said of data that are no floats.
TEST(Guess, NothingIsClaimedOfOtherData) {
  std::mt19937 random(11);
  for (const Data& data : other_data())
    for (int round = 0; round < 60; ++round) {
      const Bytes bytes = data.make(random, 4 + random() % (round % 10 ? 3000 : 700'000));
      const Seen got = seen(bytes);
      EXPECT_EQ(got.found.nan + got.found.inf, 0u)
          << data.name << ", " << bytes.size() << " bytes as " << name_of(got.type);
    }
}

TEST(Guess, FloatsBeforeOtherDataClaimNothingOfThese) {
  Normal next;
  Bytes bytes = made<float>(1 << 18, [&](auto) { return next(); });
  for (std::size_t i = bytes.size() / 2; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(next.random());
  EXPECT_EQ(seen(bytes).found.nan, 0u);
}

TEST(BufferScan, AToldTypeIsBelieved) {
  const WatchRule rule = *parse_watch_rule("nan,dtype=f32,checksum");
  BufferScan scan(rule);
  scan.add(Bytes(4096, std::byte{0xff}), 0);
  const Seen got = scan.result();
  EXPECT_EQ(got.found.nan, 1024u);
  EXPECT_FALSE(got.is_guess);
  EXPECT_TRUE(got.checksum);
}

TEST(BufferScan, OnlyWhatIsAskedForIsFound) {
  const WatchRule rule = *parse_watch_rule("inf,dtype=f32");
  BufferScan scan(rule);
  scan.add(raw_bytes(std::vector<float>{NAN, 1, INFINITY}), 0);
  const Seen got = scan.result();
  EXPECT_EQ(got.found.nan, 0u);
  EXPECT_EQ(got.found.inf, 1u);
  EXPECT_EQ(got.found.first, 2u);
  EXPECT_FALSE(got.checksum);
}

TEST(BufferScan, LargeBuffersAreLookedAtInSpreadPieces) {
  EXPECT_TRUE(pieces_of(0, 100).empty());
  std::uint64_t sum = 0, end = 0;
  for (const Piece& piece : pieces_of(1'000'001, 1 << 20)) {
    EXPECT_EQ(piece.at, end);
    end = piece.at + piece.size;
  }
  EXPECT_EQ(end, 1'000'001u);
  const auto parts = pieces_of(std::uint64_t{1} << 40, 16 << 20);
  end = 0;
  for (const Piece& piece : parts) {
    EXPECT_GE(piece.at, end);
    EXPECT_EQ(piece.at % 64, 0u);
    end = piece.at + piece.size;
    sum += piece.size;
  }
  EXPECT_EQ(sum, 16u << 20);
  EXPECT_LE(end, std::uint64_t{1} << 40);
  EXPECT_GT(end, (std::uint64_t{1} << 40) - (1 << 17));
  EXPECT_EQ(pieces_of(1000, 7).size(), 1u);
}

}  // namespace
}  // namespace fade::numbers
