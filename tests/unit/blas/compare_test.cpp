#include "blas/compare.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "blas/dump.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace fade::blas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Product product(std::uint64_t m, std::uint64_t n, std::uint64_t k, Element type, Op a = Op::None, Op b = Op::None) {
  Product out{.m = m, .n = n, .k = k, .op_a = a, .op_b = b};
  out.scalar = out.precise = type;
  for (Matrix* const one : {&out.a, &out.b, &out.c, &out.d}) one->type = type;
  out.shape();
  for (Matrix* const one : {&out.a, &out.b, &out.c, &out.d}) {
    one->ld = one->rows;
    one->stride = one->rows * one->columns;
  }
  return out;
}

struct CompareTest : ::testing::Test {
  const CpuBlas cpu;
  Tolerance tolerance = default_tolerance(Element::F32);
  Comparison compared(const Product& p, const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                      const std::vector<std::byte>& c, const std::vector<std::byte>& d,
                      std::vector<Value>* wanted = nullptr) const {
    const auto out = compare(p, {a, b, c, d}, tolerance, cpu, wanted);
    EXPECT_TRUE(out) << out.error().text();
    return out.value_or(Comparison());
  }
};

TEST_F(CompareTest, EqualResultsHaveNoDifference) {
  const Product p = product(2, 2, 3, Element::F32);
  const auto found = compared(p, bytes_of<float>({1, 2, 3, 4, 5, 6}), bytes_of<float>({1, 0, 1, 0, 1, 0}), {},
                              bytes_of<float>({6, 8, 3, 4}));
  EXPECT_EQ(found.elements, 4u);
  EXPECT_EQ(found.differing, 0u);
}

TEST_F(CompareTest, OneWrongElementIsNamed) {
  const Product p = product(2, 2, 3, Element::F32);
  const auto found = compared(p, bytes_of<float>({1, 2, 3, 4, 5, 6}), bytes_of<float>({1, 0, 1, 0, 1, 0}), {},
                              bytes_of<float>({6, 8, 3.5, 4}));
  EXPECT_EQ(found.differing, 1u);
  ASSERT_EQ(found.first.size(), 1u);
  EXPECT_EQ(shown(p, found.first[0]), "[0,1] 3.5 instead of 3");
  EXPECT_EQ(found.worst.by(), 0.5);
}

TEST_F(CompareTest, TransposesLeadingDimensionsAndBetaCount) {
  Product p = product(2, 1, 2, Element::F64, Op::Transpose, Op::Transpose);
  p.a.ld = 3;
  p.d.ld = p.c.ld = 2;
  p.alpha = 2;
  p.beta = -1;
  // op(A) = [1 2; 3 4], stored as columns (1 2 x) (3 4); op(B) = (5 6), stored as a row.
  const auto found = compared(p, bytes_of<double>({1, 2, 99, 3, 4}), bytes_of<double>({5, 6}),
                              bytes_of<double>({10, 20}), bytes_of<double>({24, 58}));
  EXPECT_EQ(found.differing, 0u);
}

TEST_F(CompareTest, MatricesOfABatchLieByTheirStrides) {
  Product p = product(1, 1, 1, Element::F32);
  p.batch = 3;
  p.a.stride = 0;
  p.b.stride = 2;
  p.d.stride = 1;
  const auto found =
      compared(p, bytes_of<float>({2}), bytes_of<float>({1, 9, 2, 9, 3}), {}, bytes_of<float>({2, 5, 6}));
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(shown(p, found.first.at(0)), "[0,0] of matrix 1 5 instead of 4");
}

TEST_F(CompareTest, ComplexMatricesMayBeConjugated) {
  const Product p = product(1, 1, 1, Element::C64, Op::Conjugate);
  const auto right = compared(p, bytes_of<float>({1, 2}), bytes_of<float>({3, 4}), {}, bytes_of<float>({11, -2}));
  EXPECT_EQ(right.differing, 0u);
  const auto wrong = compared(p, bytes_of<float>({1, 2}), bytes_of<float>({3, 4}), {}, bytes_of<float>({11, 2}));
  EXPECT_EQ(wrong.differing, 1u);
  EXPECT_EQ(shown(p, wrong.first.at(0)), "[0,0] (11,2) instead of (11,-2)");
}

TEST_F(CompareTest, HalvesAreWidened) {
  const Product p = product(1, 1, 2, Element::F16);
  tolerance = default_tolerance(Element::F16);
  const auto found = compared(p, bytes_of<std::uint16_t>({0x3c00, 0x4000}),   // 1 2
                              bytes_of<std::uint16_t>({0x4200, 0x3800}), {},  // 3 0.5
                              bytes_of<std::uint16_t>({0x4400}));             // 4
  EXPECT_EQ(found.differing, 0u);
  Product mixed = product(1, 1, 1, Element::BF16);
  mixed.d.type = Element::F32;
  EXPECT_EQ(
      compared(mixed, bytes_of<std::uint16_t>({0x4040}), bytes_of<std::uint16_t>({0xc000}), {}, bytes_of<float>({-6}))
          .differing,
      0u);
}

TEST_F(CompareTest, TermsThatCancelAreNoFalseAlarm) {
  const Product p = product(1, 1, 2, Element::F32);
  const auto found =
      compared(p, bytes_of<float>({1000, -1000}), bytes_of<float>({1, 1}), {}, bytes_of<float>({0.001f}));
  EXPECT_EQ(found.differing, 0u);  // 0.001 of 2000
  const auto more = compared(p, bytes_of<float>({1000, -1000}), bytes_of<float>({1, 1}), {}, bytes_of<float>({0.1f}));
  EXPECT_EQ(more.differing, 1u);
}

TEST_F(CompareTest, NanDiffersAndOverflowDoesNot) {
  const Product p = product(1, 1, 1, Element::F32);
  EXPECT_EQ(compared(p, bytes_of<float>({2}), bytes_of<float>({3}), {}, bytes_of<float>({NAN})).differing, 1u);
  EXPECT_EQ(compared(p, bytes_of<float>({1e30f}), bytes_of<float>({1e30f}), {}, bytes_of<float>({INFINITY})).differing,
            0u);
  EXPECT_EQ(compared(p, bytes_of<float>({1e30f}), bytes_of<float>({-1e30f}), {}, bytes_of<float>({INFINITY})).differing,
            1u);
  EXPECT_EQ(compared(p, bytes_of<float>({NAN}), bytes_of<float>({1}), {}, bytes_of<float>({NAN})).differing, 0u);
}

TEST_F(CompareTest, IntegersAreExact) {
  Product p = product(1, 1, 2, Element::I8);
  p.c.type = p.d.type = Element::I32;
  tolerance = default_tolerance(Element::I32);
  const auto a = bytes_of<std::int8_t>({-128, 127}), b = bytes_of<std::int8_t>({100, 1});
  EXPECT_EQ(compared(p, a, b, {}, bytes_of<std::int32_t>({-12673})).differing, 0u);
  EXPECT_EQ(compared(p, a, b, {}, bytes_of<std::int32_t>({-12672})).differing, 1u);
}

TEST_F(CompareTest, MissingBytesAreRefused) {
  const Product p = product(2, 2, 2, Element::F32);
  const auto four = bytes_of<float>({1, 2, 3, 4}), three = bytes_of<float>({1, 2, 3});
  EXPECT_FALSE(compare(p, {four, three, {}, four}, tolerance, cpu));
  Product with_c = p;
  with_c.beta = 1;
  EXPECT_FALSE(compare(with_c, {four, four, three, four}, tolerance, cpu));
}

TEST(Product, DescriptionsGoThroughJson) {
  Product p = product(3, 4, 5, Element::BF16, Op::Conjugate);
  p.batch = 7;
  p.d.type = Element::F32;
  p.alpha = {0.1, -2};
  const auto read = product_from(nlohmann::json::parse(to_json(p).dump()));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(p));
  EXPECT_EQ(read->alpha, p.alpha);
}

TEST(Product, WrongDescriptionsAreRefused) {
  const auto wrong = [](auto change) {
    nlohmann::json json = to_json(product(3, 4, 5, Element::F32));
    change(json);
    const auto read = product_from(json);
    return read ? std::string("accepted") : read.error().sentence();
  };
  EXPECT_THAT(wrong([](auto& j) { j["a"]["ld"] = 2; }), HasSubstr("leading dimension of A"));
  EXPECT_THAT(wrong([](auto& j) { j["a"]["rows"] = 1; }), HasSubstr("disagree"));
  EXPECT_THAT(wrong([](auto& j) {
                j["beta"][0] = "1";
                j["c"]["rows"] = 30;
              }),
              HasSubstr("disagree"));
  EXPECT_THAT(wrong([](auto& j) {
                j["m"] = j["k"] = j["a"]["rows"] = j["a"]["columns"] = j["b"]["rows"] = j["d"]["rows"] = 0x7fffffff;
                j["a"]["ld"] = 0x7fffffff;
              }),
              HasSubstr("A is too large"));
  EXPECT_THAT(wrong([](auto& j) { j["m"] = 0; }), HasSubstr("0"));
  EXPECT_THAT(wrong([](auto& j) { j["m"] = -1; }), HasSubstr("too large"));
  EXPECT_THAT(wrong([](auto& j) { j["d"]["stride"] = std::uint64_t{1} << 60; }), HasSubstr("out of range"));
  EXPECT_THAT(wrong([](auto& j) { j.erase("beta"); }), HasSubstr("no product"));
  EXPECT_THAT(wrong([](auto& j) { j["ops"] = "NX"; }), HasSubstr("no product"));
  EXPECT_THAT(wrong([](auto& j) { j["a"]["type"] = "f8"; }), HasSubstr("no product"));
}

struct DumpTest : CompareTest {
  const std::string folder = ::testing::TempDir() + "/fade-dump-" + std::to_string(::getpid());
  void SetUp() override { std::filesystem::remove_all(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(DumpTest, FilesComeBackAndGiveTheSameDifference) {
  Product p = product(2, 2, 1, Element::F32);
  p.a.ld = 3;
  p.beta = 1;
  p.batch = 2;
  p.a.stride = 4;
  const auto a = bytes_of<float>({1, 2, 99, 99, 3, 4}), b = bytes_of<float>({1, 2, 1, 2});
  const auto c = bytes_of<float>({1, 1, 1, 1, 0, 0, 0, 0}), d = bytes_of<float>({2, 3, 3, 5, 3, 4, 6, 9});
  std::vector<Value> wanted;
  const auto before = compared(p, a, b, c, d, &wanted);
  ASSERT_EQ(before.differing, 1u);
  ASSERT_TRUE(write_dump(folder, p, {a, b, c, d}, tolerance, wanted, {{"function", "sgemm"}, {"call", 5}}));
  const auto dump = read_dump(folder);
  ASSERT_TRUE(dump) << dump.error().text();
  EXPECT_EQ(dump->function, "sgemm");
  EXPECT_EQ(dump->call, 5u);
  EXPECT_EQ(dump->tolerance.relative, tolerance.relative);
  const auto after = compare(dump->product, dump->matrices(), dump->tolerance, cpu);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->differing, 1u);
  EXPECT_EQ(shown(dump->product, after->first.at(0)), shown(p, before.first.at(0)));
  EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(DumpTest, AForeignFileIsRefused) {
  const Product p = product(1, 1, 1, Element::F32);
  const auto one = bytes_of<float>({1});
  ASSERT_TRUE(write_dump(folder, p, {one, one, {}, one}, tolerance, {Value(1)}, {{"function", "f"}, {"call", 1}}));
  std::filesystem::resize_file(folder + "/b.npy", 100);
  const auto dump = read_dump(folder);
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().message, HasSubstr("b.npy"));
}

}  // namespace
}  // namespace fade::blas
