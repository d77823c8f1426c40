// Files of NumPy (format 1.0): matrices stored by columns ("fortran_order"). bf16, which NumPy lacks, is written as its
// 16 bits.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "blas/product.hpp"

namespace fade::blas {

// The matrices of a batch, packed, with the shape (rows, columns) or (rows, columns, batch).
Result<void> write_npy(const std::string& path, const Matrix& matrix, std::uint64_t batch,
                       std::span<const std::byte> packed);
// The data of a file that write_npy() has written for such a matrix.
Result<std::vector<std::byte>> read_npy(const std::string& path, const Matrix& matrix, std::uint64_t batch);

}  // namespace fade::blas
