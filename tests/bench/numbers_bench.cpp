// Bytes a second of --watch-numbers: the loops over elements and the checksum, on a piece that lies in the cache.
#include <benchmark/benchmark.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "numbers/buffer_scan.hpp"

namespace fade::numbers {
namespace {

template <class Element, class Convert>
std::vector<std::byte> normal(std::size_t bytes, Convert&& convert) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<Element> values(bytes / sizeof(Element));
  for (Element& value : values) value = convert(normal(random));
  std::vector<std::byte> out(bytes);
  std::memcpy(out.data(), values.data(), bytes);
  return out;
}

std::vector<std::byte> normal_floats(std::size_t bytes) {
  return normal<float>(bytes, [](float value) { return value; });
}
std::vector<std::byte> elements(Dtype type, std::size_t bytes) {
  if (type == Dtype::F64) return normal<double>(bytes, [](float value) { return double{value}; });
  if (type == Dtype::BF16)
    return normal<std::uint16_t>(
        bytes, [](float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); });
  if (type == Dtype::F16)
    return normal<std::uint16_t>(bytes, [](float value) {
      return static_cast<std::uint16_t>(0x3000 + std::abs(static_cast<int>(value * 1000)));
    });
  return normal_floats(bytes);
}

void scan_type(benchmark::State& state, Dtype type, bool range) {
  const auto bytes = elements(type, 256 << 10);
  Looked looked;
  if (range) looked.limits = {true, -1e30, 1e30};
  for (auto _ : state) benchmark::DoNotOptimize(scan(type, looked, bytes));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

void checksum(benchmark::State& state) {
  const auto bytes = normal_floats(256 << 10);
  for (auto _ : state) {
    Checksum sum;
    sum.add(bytes);
    benchmark::DoNotOptimize(sum.value());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

// As a session does it: 64 MiB in pieces, the type guessed. `rule`: of --watch-numbers.
void whole_buffer(benchmark::State& state, const char* text) {
  const auto bytes = normal_floats(64 << 20);
  const WatchRule rule = *parse_watch_rule(text);
  for (auto _ : state) {
    BufferScan scan(rule);
    for (const Piece& piece : pieces_of(bytes.size(), bytes.size()))
      scan.add(std::span(bytes).subspan(piece.at, piece.size), piece.at);
    benchmark::DoNotOptimize(scan.result());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

BENCHMARK_CAPTURE(scan_type, f32, Dtype::F32, false);
BENCHMARK_CAPTURE(scan_type, f32_range, Dtype::F32, true);
BENCHMARK_CAPTURE(scan_type, f64, Dtype::F64, false);
BENCHMARK_CAPTURE(scan_type, f64_range, Dtype::F64, true);
BENCHMARK_CAPTURE(scan_type, f16, Dtype::F16, false);
BENCHMARK_CAPTURE(scan_type, bf16_range, Dtype::BF16, true);
BENCHMARK_CAPTURE(scan_type, i32_range, Dtype::I32, true);
BENCHMARK(checksum);
BENCHMARK_CAPTURE(whole_buffer, nan_inf, "nan,inf");
BENCHMARK_CAPTURE(whole_buffer, nan_inf_checksum, "nan,inf,checksum");

}  // namespace
}  // namespace fade::numbers

BENCHMARK_MAIN();
