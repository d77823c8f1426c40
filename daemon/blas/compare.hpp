// Computes a product again and compares. Pure, but for the library that multiplies.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blas/cpu_blas.hpp"
#include "blas/product.hpp"
#include "blas/tolerance.hpp"

namespace fade::blas {

// The bytes of the matrices, by their strides. c: as it was before the call, empty if beta is 0. d: the result.
struct Matrices {
  std::span<const std::byte> a, b, c, d;
};

struct Difference {
  std::uint64_t row = 0, column = 0, matrix = 0;  // from 0
  Value got, wanted;
  double by() const { return std::abs(got - wanted); }
};

struct Comparison {
  static constexpr std::size_t kShown = 8;
  std::uint64_t elements = 0, differing = 0;
  std::vector<Difference> first;  // kShown at most, by columns
  Difference worst;
  double worst_limit = 0;
};

// `wanted`: filled with the values, packed by columns, if not null. Fails if the bytes are too few.
Result<Comparison> compare(const Product& product, const Matrices& matrices, const Tolerance& tolerance,
                           const CpuBlas& cpu, std::vector<Value>* wanted = nullptr);

// "[2,3] 1.5 instead of 2.25"; with several matrices "[2,3] of matrix 4 ...".
std::string shown(const Product& product, const Difference& difference);

}  // namespace fade::blas
