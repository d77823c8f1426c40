#include "blas/cpu_blas.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace fade::blas {
namespace {

constexpr const char* kLibraries[] = {"libopenblas.so.0", "libblas.so.3"};

// Fortran's interface, which each BLAS has.
template <class T>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                      const T*, const int*, const T*, T*, const int*);

template <class T>
void loops(int m, int n, int k, T alpha, const T* a, const T* b, T beta, T* c) {
  for (int j = 0; j < n; ++j) {
    T* const column = c + static_cast<std::size_t>(j) * m;
    for (int i = 0; i < m; ++i) column[i] = beta == T(0) ? T(0) : beta * column[i];
    for (int l = 0; l < k; ++l) {
      const T factor = alpha * b[static_cast<std::size_t>(j) * k + l];
      const T* const from = a + static_cast<std::size_t>(l) * m;
      for (int i = 0; i < m; ++i) column[i] += factor * from[i];
    }
  }
}

template <class T>
void call(void* function, int m, int n, int k, T alpha, const T* a, const T* b, T beta, T* c) {
  if (!function) return loops(m, n, k, alpha, a, b, beta, c);
  reinterpret_cast<Gemm<T>>(function)("N", "N", &m, &n, &k, &alpha, a, &m, b, &k, &beta, c, &m);
}

}  // namespace

CpuBlas::CpuBlas() {
  for (const char* name : kLibraries) {
    library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library_) continue;
    dgemm_ = ::dlsym(library_, "dgemm_");
    zgemm_ = ::dlsym(library_, "zgemm_");
    name_ = name;
    if (dgemm_ && zgemm_) return;
    ::dlclose(library_);
  }
  library_ = dgemm_ = zgemm_ = nullptr;
  name_ = "loops";
}

CpuBlas::~CpuBlas() {
  if (library_) ::dlclose(library_);
}

void CpuBlas::multiply(int m, int n, int k, double alpha, const double* a, const double* b, double beta,
                       double* c) const {
  call(dgemm_, m, n, k, alpha, a, b, beta, c);
}

void CpuBlas::multiply(int m, int n, int k, Value alpha, const Value* a, const Value* b, Value beta, Value* c) const {
  call(zgemm_, m, n, k, alpha, a, b, beta, c);
}

}  // namespace fade::blas
