#include "store/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <optional>

namespace fade::store {
namespace {

void put(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

std::optional<std::uint64_t> get(std::span<const std::byte>& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(in.front());
    in = in.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

Histogram argument(sqlite3_value* value) {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));
  if (!bytes) return {};
  return Histogram::decode({bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))});
}

void answer(sqlite3_context* context, const Histogram& histogram) {
  const std::vector<std::byte> blob = histogram.encode();
  sqlite3_result_blob64(context, blob.empty() ? static_cast<const void*>("") : blob.data(), blob.size(),
                        SQLITE_TRANSIENT);
}

void sql_merge(sqlite3_context* context, int, sqlite3_value** values) {
  Histogram sum = argument(values[0]);
  sum.add(argument(values[1]));
  answer(context, sum);
}

void sql_quantile(sqlite3_context* context, int count, sqlite3_value** values) {
  const Histogram histogram = argument(values[0]);
  if (histogram.total() == 0) return sqlite3_result_null(context);
  double ns = histogram.quantile(sqlite3_value_double(values[1]));
  if (count == 4 && sqlite3_value_type(values[2]) != SQLITE_NULL) ns = std::max(ns, sqlite3_value_double(values[2]));
  if (count == 4 && sqlite3_value_type(values[3]) != SQLITE_NULL) ns = std::min(ns, sqlite3_value_double(values[3]));
  sqlite3_result_int64(context, std::llround(ns));
}

// SQLite gives the aggregate zeroed memory, which is an empty Histogram.
void sql_sum_step(sqlite3_context* context, int, sqlite3_value** values) {
  void* memory = sqlite3_aggregate_context(context, sizeof(Histogram));
  if (!memory) return sqlite3_result_error_nomem(context);
  static_cast<Histogram*>(memory)->add(argument(values[0]));
}

void sql_sum_end(sqlite3_context* context) {
  const auto* sum = static_cast<const Histogram*>(sqlite3_aggregate_context(context, 0));
  answer(context, sum ? *sum : Histogram{});
}

}  // namespace

std::int64_t Histogram::begin_of(std::size_t bucket) {
  if (bucket == 0) return 0;
  return static_cast<std::int64_t>(2 + bucket % 2) << (kFirstOctave - 1 + bucket / 2);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

std::uint64_t Histogram::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : counts_) sum += n;
  return sum;
}

double Histogram::quantile(double q) const {
  const double wanted = std::clamp(q, 0.0, 1.0) * static_cast<double>(total());
  double below = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto n = static_cast<double>(counts_[i]);
    if (n == 0) continue;
    last = i;
    if (below + n >= wanted) break;
    below += n;
  }
  const auto n = static_cast<double>(counts_[last]);
  if (n == 0) return 0;
  const auto begin = static_cast<double>(begin_of(last)), end = static_cast<double>(begin_of(last + 1));
  return begin + (end - begin) * std::clamp((wanted - below) / n, 0.0, 1.0);
}

std::vector<std::byte> Histogram::encode() const {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    put(out, i);
    put(out, counts_[i]);
  }
  return out;
}

Histogram Histogram::decode(std::span<const std::byte> blob) {
  Histogram out;
  while (!blob.empty()) {
    const auto bucket = get(blob);
    const auto n = get(blob);
    if (!bucket || !n) break;
    if (*bucket < kBuckets) out.counts_[*bucket] += *n;
  }
  return out;
}

Result<void> register_histogram_functions(sqlite::Db& db) {
  constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const auto scalar = [&](const char* name, int arguments, auto function) {
    return sqlite3_create_function_v2(db.get(), name, arguments, kPure, nullptr, function, nullptr, nullptr, nullptr) ==
           SQLITE_OK;
  };
  const bool done = scalar("hist_merge", 2, sql_merge) && scalar("hist_quantile", 2, sql_quantile) &&
                    scalar("hist_quantile", 4, sql_quantile) &&
                    sqlite3_create_function_v2(db.get(), "hist_sum", 1, kPure, nullptr, nullptr, sql_sum_step,
                                               sql_sum_end, nullptr) == SQLITE_OK;
  if (!done) return tl::unexpected(db.error("cannot register the histogram functions"));
  return {};
}

}  // namespace fade::store
