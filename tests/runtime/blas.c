// The libraries of blas.h. Compiled once for each, with its part.
#include "blas.h"

#include <complex.h>
#include <hip/hip_runtime.h>
#include <stdlib.h>

enum { none = 111, conjugate = 113, f16 = 150, f32 = 151, f64 = 152, c64 = 154, c128 = 155, bf16 = 168 };

// The last product of which one element is wrong.
static int is_wrong(void) {
  static int products;
  const char* wanted = getenv("FADE_STANDIN_BLAS_WRONG");
  return wanted && __atomic_add_fetch(&products, 1, __ATOMIC_RELAXED) == atoi(wanted);
}

static float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float value = exponent ? (float)(1024 + (bits & 1023)) : (float)(2 * (bits & 1023));
  const float scaled = exponent >= 25 ? value * (float)(1 << (exponent - 25)) : value / (float)(1 << (25 - exponent));
  return bits >> 15 ? -scaled : scaled;
}

static uint16_t brain_bits(float value) {
  union {
    float value;
    uint32_t bits;
  } u = {value};
  return (uint16_t)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
}

static double complex get(const void* at, int type, int64_t i) {
  union {
    uint32_t bits;
    float value;
  } u;
  switch (type) {
    case f64: return ((const double*)at)[i];
    case c64: return ((const float complex*)at)[i];
    case c128: return ((const double complex*)at)[i];
    case f16: return half_value(((const uint16_t*)at)[i]);
    case bf16: u.bits = (uint32_t)((const uint16_t*)at)[i] << 16; return u.value;
    default: return ((const float*)at)[i];
  }
}

static void set(void* at, int type, int64_t i, double complex value) {
  switch (type) {
    case f64: ((double*)at)[i] = creal(value); break;
    case c64: ((float complex*)at)[i] = (float complex)value; break;
    case c128: ((double complex*)at)[i] = value; break;
    case bf16: ((uint16_t*)at)[i] = brain_bits((float)creal(value)); break;
    default: ((float*)at)[i] = (float)creal(value); break;
  }
}

struct matrix {
  const void* at;
  int type, op;
  int64_t ld;
};

static double complex element(const struct matrix* x, int64_t row, int64_t column) {
  const int64_t i = x->op == none ? column * x->ld + row : row * x->ld + column;
  return x->op == conjugate ? conj(get(x->at, x->type, i)) : get(x->at, x->type, i);
}

__attribute__((unused)) static int multiply(int m, int n, int k, double complex alpha, const struct matrix a,
                                            const struct matrix b, double complex beta, const struct matrix c, void* d,
                                            int64_t ldd, int d_type) {
  const int wrong = is_wrong();
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      double complex sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += element(&a, i, l) * element(&b, l, j);
      sum = alpha * sum + (beta == 0 ? 0 : beta * get(c.at, c.type, j * c.ld + i));
      set(d, d_type, j * ldd + i, sum + (wrong && i == m - 1 && j == n - 1));
    }
  }
  return 0;
}

// The stream has work.
__attribute__((unused)) static int launch(void* stream) {
  static const void* kernel;
  if (!kernel)
    __hipRegisterFunction(__hipRegisterFatBinary(NULL), &kernel, NULL, (char*)"Cijk", 0, NULL, NULL, NULL, NULL, NULL);
  const dim3 grid = {4, 1, 1}, block = {64, 1, 1};
  return hipLaunchKernel(&kernel, grid, block, NULL, 0, stream) == hipSuccess ? 0 : 6;
}

#ifdef STANDIN_BLAS_ROCBLAS
struct standin_blas {
  void* stream;
  int mode;
};

int rocblas_create_handle(blas_handle* handle) {
  *handle = calloc(1, sizeof **handle);
  return 0;
}
int rocblas_destroy_handle(blas_handle handle) {
  free(handle);
  return 0;
}
int rocblas_set_stream(blas_handle handle, void* stream) {
  handle->stream = stream;
  return 0;
}
int rocblas_get_stream(blas_handle handle, void** stream) {
  *stream = handle->stream;
  return 0;
}
int rocblas_set_pointer_mode(blas_handle handle, int mode) {
  handle->mode = mode;
  return 0;
}
int rocblas_get_pointer_mode(blas_handle handle, int* mode) {
  *mode = handle->mode;
  return 0;
}

static int plain(blas_handle handle, int type, int transA, int transB, int m, int n, int k, const void* alpha,
                 const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C, int64_t ldc) {
  if (m < 0) return 3;
  const int status = launch(handle->stream);
  if (status) return status;
  return multiply(m, n, k, get(alpha, type, 0), (struct matrix){A, type, transA, lda},
                  (struct matrix){B, type, transB, ldb}, get(beta, type, 0), (struct matrix){C, type, none, ldc}, C,
                  ldc, type);
}

#define GEMM(name, type)                                                                                               \
  int name(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A, int lda, \
           const void* B, int ldb, const void* beta, void* C, int ldc) {                                               \
    return plain(handle, type, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);                          \
  }
GEMM(rocblas_sgemm, f32)
GEMM(rocblas_dgemm, f64)
GEMM(rocblas_cgemm, c64)
GEMM(rocblas_zgemm, c128)

int rocblas_sgemm_strided_batched(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                                  const void* A, int lda, int64_t stride_a, const void* B, int ldb, int64_t stride_b,
                                  const void* beta, void* C, int ldc, int64_t stride_c, int batch_count) {
  for (int i = 0; i < batch_count; ++i)
    plain(handle, f32, transA, transB, m, n, k, alpha, (const float*)A + i * stride_a, lda,
          (const float*)B + i * stride_b, ldb, beta, (float*)C + i * stride_c, ldc);
  return 0;
}

int rocblas_sgemm_batched(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, void* A,
                          int lda, void* B, int ldb, const void* beta, void* C, int ldc, int batch_count) {
  for (int i = 0; i < batch_count; ++i)
    plain(handle, f32, transA, transB, m, n, k, alpha, ((void**)A)[i], lda, ((void**)B)[i], ldb, beta, ((void**)C)[i],
          ldc);
  return 0;
}

int rocblas_gemm_ex(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* a,
                    int a_type, int lda, const void* b, int b_type, int ldb, const void* beta, const void* c,
                    int c_type, int ldc, void* d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution_index, uint32_t flags) {
  (void)algo, (void)solution_index, (void)flags;
  const int status = launch(handle->stream);
  if (status) return status;
  return multiply(m, n, k, get(alpha, compute_type, 0), (struct matrix){a, a_type, transA, lda},
                  (struct matrix){b, b_type, transB, ldb}, get(beta, compute_type, 0),
                  (struct matrix){c, c_type, none, ldc}, d, ldd, d_type);
}
#endif

#ifdef STANDIN_BLAS_HIPBLAS
int hipblasGetStream(blas_handle handle, void** stream) { return rocblas_get_stream(handle, stream); }
int hipblasGetPointerMode(blas_handle handle, int* mode) { return rocblas_get_pointer_mode(handle, mode); }
int hipblasSgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                 int lda, const void* B, int ldb, const void* beta, void* C, int ldc) {
  return rocblas_sgemm(handle, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
#endif

#ifdef STANDIN_BLAS_HIPBLASLT
struct standin_blas {
  int type, op_a, op_b;
  int64_t rows, columns, ld;
};

int hipblasLtMatrixLayoutCreate(blas_handle* matLayout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  *matLayout = calloc(1, sizeof **matLayout);
  **matLayout = (struct standin_blas){type == 0 ? f32 : bf16, none, none, (int64_t)rows, (int64_t)cols, ld};
  return 0;
}

int hipblasLtMatmulDescCreate(blas_handle* matmulDesc, int computeType, int scaleType) {
  (void)computeType, (void)scaleType;
  *matmulDesc = calloc(1, sizeof **matmulDesc);
  (*matmulDesc)->op_a = (*matmulDesc)->op_b = none;
  return 0;
}

int hipblasLtMatmulDescSetAttribute(blas_handle matmulDesc, int attr, const void* buf, size_t sizeInBytes) {
  (void)sizeInBytes;
  if (attr == 0) matmulDesc->op_a = *(const int*)buf;
  if (attr == 1) matmulDesc->op_b = *(const int*)buf;
  return 0;
}

int hipblasLtMatmul(blas_handle handle, blas_handle matmulDesc, const void* alpha, const void* A, blas_handle Adesc,
                    const void* B, blas_handle Bdesc, const void* beta, const void* C, blas_handle Cdesc, void* D,
                    blas_handle Ddesc, const void* algo, void* workspace, size_t workspaceSizeInBytes, void* stream) {
  (void)handle, (void)algo, (void)workspace, (void)workspaceSizeInBytes;
  const int status = launch(stream);
  if (status) return status;
  const int k = (int)(matmulDesc->op_a == none ? Adesc->columns : Adesc->rows);
  return multiply((int)Ddesc->rows, (int)Ddesc->columns, k, *(const float*)alpha,
                  (struct matrix){A, Adesc->type, matmulDesc->op_a, Adesc->ld},
                  (struct matrix){B, Bdesc->type, matmulDesc->op_b, Bdesc->ld}, *(const float*)beta,
                  (struct matrix){C, Cdesc->type, none, Cdesc->ld}, D, Ddesc->ld, Ddesc->type);
}
#endif
