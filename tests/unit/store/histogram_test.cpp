#include "store/histogram.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace fade::store {
namespace {

TEST(Histogram, BucketsAreHalfOctavesFrom128Nanoseconds) {
  EXPECT_EQ(Histogram::bucket_of(-5), 0u);
  EXPECT_EQ(Histogram::bucket_of(0), 0u);
  EXPECT_EQ(Histogram::bucket_of(191), 0u);
  EXPECT_EQ(Histogram::bucket_of(192), 1u);
  EXPECT_EQ(Histogram::bucket_of(256), 2u);
  EXPECT_EQ(Histogram::bucket_of(std::numeric_limits<std::int64_t>::max()), 63u);
  for (std::size_t b = 1; b < Histogram::kBuckets; ++b) {
    EXPECT_EQ(Histogram::bucket_of(Histogram::begin_of(b)), b);
    EXPECT_EQ(Histogram::bucket_of(Histogram::begin_of(b) - 1), b - 1);
  }
}

TEST(Histogram, EncodesOnlyWhatWasCounted) {
  Histogram h;
  EXPECT_TRUE(h.encode().empty());
  for (int i = 0; i < 300; ++i) h.add(1'000);
  h.add(1'000'000'000);
  EXPECT_EQ(h.encode().size(), 5u);  // two bucket numbers, 300 in two bytes, 1 in one
  const Histogram back = Histogram::decode(h.encode());
  EXPECT_EQ(back.count(Histogram::bucket_of(1'000)), 300u);
  EXPECT_EQ(back.total(), 301u);
}

TEST(Histogram, ReadsDamagedBlobsAsFarAsTheyMakeSense) {
  const auto decode = [](std::vector<unsigned char> bytes) {
    return Histogram::decode(std::as_bytes(std::span(bytes))).total();
  };
  EXPECT_EQ(decode({3, 7, 200}), 7u);                           // cut off
  EXPECT_EQ(decode({100, 7, 3, 5}), 5u);                        // no such bucket
  EXPECT_EQ(decode(std::vector<unsigned char>(50, 0xff)), 0u);  // a number without end
}

TEST(Histogram, QuantileLiesInTheRightBucket) {
  Histogram h;
  EXPECT_EQ(h.quantile(0.5), 0);
  for (int i = 0; i < 90; ++i) h.add(1'000);
  for (int i = 0; i < 10; ++i) h.add(1'000'000);
  EXPECT_EQ(Histogram::bucket_of(static_cast<std::int64_t>(h.quantile(0.5))), Histogram::bucket_of(1'000));
  EXPECT_EQ(Histogram::bucket_of(static_cast<std::int64_t>(h.quantile(0.99))), Histogram::bucket_of(1'000'000));
  EXPECT_GE(h.quantile(1), h.quantile(0.99));
}

TEST(Histogram, WorksInSql) {
  auto db = sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(db);
  ASSERT_TRUE(register_histogram_functions(*db));
  EXPECT_EQ(*db->text("SELECT hex(hist_merge(x'0301', x'03020501'))"), "03030501");
  EXPECT_EQ(*db->text("SELECT hex(hist_merge(NULL, x'0301'))"), "0301");
  EXPECT_EQ(*db->text("SELECT hex(hist_sum(h)) FROM (SELECT x'0301' AS h UNION ALL SELECT x'0304')"), "0305");
  EXPECT_EQ(*db->integer("SELECT hist_quantile(x'0301', 0.5) BETWEEN 384 AND 512"), 1);
  EXPECT_EQ(*db->integer("SELECT hist_quantile(x'0301', 0.5, 390, 400) BETWEEN 390 AND 400"), 1);
  EXPECT_EQ(*db->integer("SELECT hist_quantile(x'', 0.5) IS NULL"), 1);
}

}  // namespace
}  // namespace fade::store
