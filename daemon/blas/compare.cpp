#include "blas/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <type_traits>

namespace fade::blas {
namespace {

template <class T>
T number(const Value& value) {
  if constexpr (std::is_same_v<T, double>) return value.real();
  else return value;
}

bool has_all(const Product& p, const Matrix& matrix, std::span<const std::byte> bytes) {
  return bytes.size() >= (p.batch - 1) * matrix.stride_bytes() + matrix.bytes();
}

// One matrix of the batch, packed by columns, with its operation done.
template <class T>
std::vector<T> widened(const Matrix& from, Op op, std::span<const std::byte> bytes, std::uint64_t index) {
  const std::size_t size = size_of(from.type);
  const auto start = bytes.subspan(index * from.stride_bytes());
  std::vector<T> out(from.rows * from.columns);
  for (std::uint64_t column = 0; column < from.columns; ++column) {
    for (std::uint64_t row = 0; row < from.rows; ++row) {
      Value value = value_of(from.type, start.subspan((column * from.ld + row) * size));
      if (op == Op::Conjugate) value = std::conj(value);
      out[op == Op::None ? column * from.rows + row : row * from.columns + column] = number<T>(value);
    }
  }
  return out;
}

std::vector<double> magnitudes(const auto& values) {
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::abs(values[i]);
  return out;
}

// An infinite result is as good as a value that the type cannot hold.
bool is_overflow(Element type, double got, double wanted) {
  const double greatest = greatest_of(type);
  return greatest != 0 && std::isinf(got) && std::signbit(got) == std::signbit(wanted) &&
         std::abs(wanted) >= greatest * 0.99;
}

bool is_same_number(Element type, double got, double wanted) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) || is_overflow(type, got, wanted);
}

bool is_same(Element type, const Value& got, const Value& wanted) {
  return is_same_number(type, got.real(), wanted.real()) && is_same_number(type, got.imag(), wanted.imag());
}

// One product of the batch. Sums of magnitudes are computed only if a value is not near enough without them.
template <class T>
class One {
 public:
  One(const Product& product, const Matrices& matrices, const CpuBlas& cpu, std::uint64_t index)
      : p_(product),
        cpu_(cpu),
        a_(widened<T>(p_.a, p_.op_a, matrices.a, index)),
        b_(widened<T>(p_.b, p_.op_b, matrices.b, index)),
        c_(p_.uses_c() ? widened<T>(p_.c, Op::None, matrices.c, index) : std::vector<T>(p_.m * p_.n)),
        wanted_(c_) {
    cpu.multiply(static_cast<int>(p_.m), static_cast<int>(p_.n), static_cast<int>(p_.k), number<T>(p_.alpha), a_.data(),
                 b_.data(), number<T>(p_.beta), wanted_.data());
  }

  const std::vector<T>& wanted() const { return wanted_; }
  double magnitude(std::size_t at) {
    if (sums_.empty()) add_up();
    return sums_[at];
  }

 private:
  void add_up() {
    const auto a = magnitudes(a_), b = magnitudes(b_);
    sums_ = magnitudes(c_);
    cpu_.multiply(static_cast<int>(p_.m), static_cast<int>(p_.n), static_cast<int>(p_.k), std::abs(p_.alpha), a.data(),
                  b.data(), std::abs(p_.beta), sums_.data());
  }

  const Product& p_;
  const CpuBlas& cpu_;
  std::vector<T> a_, b_, c_, wanted_;
  std::vector<double> sums_;
};

void note(Comparison& out, const Difference& difference, double limit) {
  const bool is_worst = out.differing++ == 0 || !(difference.by() <= out.worst.by());
  if (out.first.size() < Comparison::kShown) out.first.push_back(difference);
  if (!is_worst || std::isnan(out.worst.by())) return;
  out.worst = difference;
  out.worst_limit = limit;
}

template <class T>
void compare_one(const Product& p, const Matrices& matrices, const Tolerance& tolerance, std::uint64_t index,
                 One<T>& one, Comparison& out) {
  const auto got = widened<T>(p.d, Op::None, matrices.d, index);
  for (std::size_t at = 0; at < got.size(); ++at) {
    const Difference difference{at % p.m, at / p.m, index, got[at], one.wanted()[at]};
    if (is_same(p.d.type, difference.got, difference.wanted)) continue;
    const double by = difference.by();
    if (by <= tolerance.limit(std::abs(difference.wanted))) continue;
    const double limit = tolerance.limit(one.magnitude(at));
    if (!(by <= limit)) note(out, difference, limit);
  }
  out.elements += got.size();
}

template <class T>
Comparison compare_all(const Product& p, const Matrices& matrices, const Tolerance& tolerance, const CpuBlas& cpu,
                       std::vector<Value>* wanted) {
  Comparison out;
  for (std::uint64_t index = 0; index < p.batch; ++index) {
    One<T> one(p, matrices, cpu, index);
    compare_one(p, matrices, tolerance, index, one, out);
    if (wanted) wanted->insert(wanted->end(), one.wanted().begin(), one.wanted().end());
  }
  return out;
}

bool has_complex(const Product& p) {
  return is_complex(p.a.type) || is_complex(p.b.type) || is_complex(p.d.type) || p.alpha.imag() != 0 ||
         p.beta.imag() != 0;
}

std::string shown_value(const Product& product, const Value& value) {
  if (!is_complex(product.d.type)) return fmt::format("{:.9g}", value.real());
  return fmt::format("({:.9g},{:.9g})", value.real(), value.imag());
}

}  // namespace

Result<Comparison> compare(const Product& p, const Matrices& matrices, const Tolerance& tolerance, const CpuBlas& cpu,
                           std::vector<Value>* wanted) {
  if (auto checked = p.check(); !checked) return tl::unexpected(std::move(checked.error()));
  const bool has_enough = has_all(p, p.a, matrices.a) && has_all(p, p.b, matrices.b) && has_all(p, p.d, matrices.d) &&
                          (!p.uses_c() || has_all(p, p.c, matrices.c));
  if (!has_enough) return fail("bytes of its matrices are missing");
  return has_complex(p) ? compare_all<Value>(p, matrices, tolerance, cpu, wanted)
                        : compare_all<double>(p, matrices, tolerance, cpu, wanted);
}

std::string shown(const Product& product, const Difference& difference) {
  const std::string place =
      product.batch > 1 ? fmt::format("[{},{}] of matrix {}", difference.row, difference.column, difference.matrix)
                        : fmt::format("[{},{}]", difference.row, difference.column);
  return fmt::format("{} {} instead of {}", place, shown_value(product, difference.got),
                     shown_value(product, difference.wanted));
}

}  // namespace fade::blas
