// A BLAS of this machine's processor: OpenBLAS or another one that offers dgemm_ and zgemm_, opened when it is needed.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "blas/element.hpp"

namespace fade::blas {

class CpuBlas {
 public:
  // The first library that can be opened. Without one, loops of fade's own compute, which take long for large matrices.
  CpuBlas();
  ~CpuBlas();
  CpuBlas(const CpuBlas&) = delete;
  CpuBlas& operator=(const CpuBlas&) = delete;

  const std::string& name() const { return name_; }  // libopenblas.so.0, or loops

  // c = alpha a b + beta c, all packed by columns: a is m x k, b is k x n.
  void multiply(int m, int n, int k, double alpha, const double* a, const double* b, double beta, double* c) const;
  void multiply(int m, int n, int k, Value alpha, const Value* a, const Value* b, Value beta, Value* c) const;

 private:
  void* library_ = nullptr;
  void* dgemm_ = nullptr;
  void* zgemm_ = nullptr;
  std::string name_ = "loops";
};

}  // namespace fade::blas
