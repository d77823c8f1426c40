#include "blas/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace fade::blas {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostSize = 0x7fffffff;  // of BLAS with numbers of 32 bits
constexpr std::uint64_t kMostStride = std::uint64_t{1} << 48;
constexpr char kOps[] = "NTC";

void set(Matrix& matrix, std::uint64_t rows, std::uint64_t columns, Op op) {
  matrix.rows = op == Op::None ? rows : columns;
  matrix.columns = op == Op::None ? columns : rows;
}

// Its bytes can be told in 64 bits, whatever the program says.
Result<void> check_matrix(const char* name, const Matrix& matrix) {
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
  if (matrix.ld < matrix.rows || matrix.ld > kMostSize)
    return fail(fmt::format("the leading dimension of {} is {} with {} rows", name, matrix.ld, matrix.rows));
  if (matrix.columns > kMostElements / std::max<std::uint64_t>(matrix.ld, 1))
    return fail(fmt::format("{} is too large", name));
  if (matrix.stride > kMostStride) return fail(fmt::format("the stride of {} is out of range", name));
  return {};
}

json number_pair(const Value& value) {
  return json::array({fmt::format("{:.17g}", value.real()), fmt::format("{:.17g}", value.imag())});
}

json matrix_json(const Matrix& matrix) {
  return {{"type", name_of(matrix.type)},
          {"rows", matrix.rows},
          {"columns", matrix.columns},
          {"ld", matrix.ld},
          {"stride", matrix.stride}};
}

Value pair_from(const json& pair) {
  return {std::stod(pair.at(0).get<std::string>()), std::stod(pair.at(1).get<std::string>())};
}

Element type_from(const json& text) {
  const auto type = element_named(text.get<std::string>());
  if (!type) throw std::invalid_argument("no type of elements");
  return *type;
}

Op op_from(char letter) {
  for (std::size_t i = 0; i < 3; ++i)
    if (kOps[i] == letter) return static_cast<Op>(i);
  throw std::invalid_argument("no operation");
}

Matrix matrix_from(const json& from) {
  return {type_from(from.at("type")), from.at("rows").get<std::uint64_t>(), from.at("columns").get<std::uint64_t>(),
          from.at("ld").get<std::uint64_t>(), from.at("stride").get<std::uint64_t>()};
}

Product read(const json& from) {
  Product out{.m = from.at("m").get<std::uint64_t>(),
              .n = from.at("n").get<std::uint64_t>(),
              .k = from.at("k").get<std::uint64_t>(),
              .batch = from.at("batch").get<std::uint64_t>()};
  const auto ops = from.at("ops").get<std::string>();
  out.op_a = op_from(ops.at(0));
  out.op_b = op_from(ops.at(1));
  for (const auto& [name, to] :
       {std::pair("a", &out.a), std::pair("b", &out.b), std::pair("c", &out.c), std::pair("d", &out.d)})
    *to = matrix_from(from.at(name));
  out.alpha = pair_from(from.at("alpha"));
  out.beta = pair_from(from.at("beta"));
  out.scalar = type_from(from.at("scalar"));
  out.precise = type_from(from.at("precise"));
  return out;
}

}  // namespace

std::string Product::ops() const {
  return {kOps[static_cast<std::size_t>(op_a)], kOps[static_cast<std::size_t>(op_b)]};
}

void Product::shape() {
  set(a, m, k, op_a);
  set(b, k, n, op_b);
  set(c, m, n, Op::None);
  set(d, m, n, Op::None);
}

Result<void> Product::check() const {
  if (m == 0 || n == 0 || k == 0 || batch == 0) return fail("one of its sizes is 0");
  if (m > kMostSize || n > kMostSize || k > kMostSize || batch > kMostSize)
    return fail("one of its sizes is too large");
  Product same = *this;
  same.shape();
  const auto differs = [](const Matrix& one, const Matrix& other) {
    return one.rows != other.rows || one.columns != other.columns;
  };
  if (differs(a, same.a) || differs(b, same.b) || differs(d, same.d) || (uses_c() && differs(c, same.c)))
    return fail("the sizes of its matrices disagree");
  for (const auto& [name, matrix] : {std::pair("A", &a), std::pair("B", &b), std::pair("D", &d)})
    if (auto checked = check_matrix(name, *matrix); !checked) return checked;
  return uses_c() ? check_matrix("C", c) : Result<void>();
}

json to_json(const Product& p) {
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"batch", p.batch},
          {"ops", p.ops()},
          {"a", matrix_json(p.a)},
          {"b", matrix_json(p.b)},
          {"c", matrix_json(p.c)},
          {"d", matrix_json(p.d)},
          {"alpha", number_pair(p.alpha)},
          {"beta", number_pair(p.beta)},
          {"scalar", name_of(p.scalar)},
          {"precise", name_of(p.precise)}};
}

Result<Product> product_from(const json& from) {
  try {
    Product out = read(from);
    if (auto checked = out.check(); !checked) return tl::unexpected(std::move(checked.error()));
    return out;
  } catch (const std::exception& e) {  // the only way nlohmann::json and std::stod tell
    return fail("it describes no product", e.what());
  }
}

}  // namespace fade::blas
