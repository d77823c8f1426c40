// A product of matrices as BLAS has it: D = alpha op(A) op(B) + beta C, each matrix stored by columns. Pure.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"
#include "blas/element.hpp"

namespace fade::blas {

enum class Op : std::uint8_t { None, Transpose, Conjugate };

struct Matrix {
  Element type = Element::F32;
  std::uint64_t rows = 0, columns = 0;  // as it is stored
  std::uint64_t ld = 0;                 // elements from one column to the next
  std::uint64_t stride = 0;             // elements from one matrix of the batch to the next

  // Bytes of one matrix, from its first element to its last.
  std::uint64_t bytes() const { return rows == 0 || columns == 0 ? 0 : ((columns - 1) * ld + rows) * size_of(type); }
  std::uint64_t stride_bytes() const { return stride * size_of(type); }
  // Matrices of the batch lie close to each other, so one copy takes all of them.
  bool is_close() const { return stride_bytes() <= bytes() + bytes() / 4; }
};

struct Product {
  std::uint64_t m = 0, n = 0, k = 0, batch = 1;
  Op op_a = Op::None, op_b = Op::None;
  Matrix a, b, c, d;
  Value alpha{1, 0}, beta{0, 0};
  Element scalar = Element::F32;   // type of alpha and beta
  Element precise = Element::F32;  // type by which the result is judged: the least precise one of output and sums

  bool uses_c() const { return beta != Value(0, 0); }
  // "NT": op(A) and op(B).
  std::string ops() const;
  // Sets the stored rows and columns of all matrices from m, n, k and the ops.
  void shape();
  // A sentence says why it can't be a product: a leading dimension is too small, a size is beyond what BLAS takes.
  Result<void> check() const;
};

nlohmann::json to_json(const Product& product);
Result<Product> product_from(const nlohmann::json& json);

}  // namespace fade::blas
