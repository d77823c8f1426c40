// Stand-ins for rocBLAS, hipBLAS and hipBLASLt that compute: device memory is host memory. FADE_STANDIN_BLAS_WRONG=N
// makes the Nth product of a process err in its last element by 1.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct standin_blas* blas_handle;

int rocblas_create_handle(blas_handle* handle);
int rocblas_destroy_handle(blas_handle handle);
int rocblas_set_stream(blas_handle handle, void* stream);
int rocblas_get_stream(blas_handle handle, void** stream);
int rocblas_set_pointer_mode(blas_handle handle, int mode);
int rocblas_get_pointer_mode(blas_handle handle, int* mode);
int rocblas_sgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc);
int rocblas_dgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc);
int rocblas_cgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc);
int rocblas_zgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc);
int rocblas_sgemm_strided_batched(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                                  const void* A, int lda, int64_t stride_a, const void* B, int ldb, int64_t stride_b,
                                  const void* beta, void* C, int ldc, int64_t stride_c, int batch_count);
int rocblas_sgemm_batched(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, void* A,
                          int lda, void* B, int ldb, const void* beta, void* C, int ldc, int batch_count);
int rocblas_gemm_ex(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* a,
                    int a_type, int lda, const void* b, int b_type, int ldb, const void* beta, const void* c,
                    int c_type, int ldc, void* d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution_index, uint32_t flags);

int hipblasGetStream(blas_handle handle, void** stream);
int hipblasGetPointerMode(blas_handle handle, int* mode);
int hipblasSgemm(blas_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                 int lda, const void* B, int ldb, const void* beta, void* C, int ldc);

int hipblasLtMatrixLayoutCreate(blas_handle* matLayout, int type, uint64_t rows, uint64_t cols, int64_t ld);
int hipblasLtMatmulDescCreate(blas_handle* matmulDesc, int computeType, int scaleType);
int hipblasLtMatmulDescSetAttribute(blas_handle matmulDesc, int attr, const void* buf, size_t sizeInBytes);
int hipblasLtMatmul(blas_handle handle, blas_handle matmulDesc, const void* alpha, const void* A, blas_handle Adesc,
                    const void* B, blas_handle Bdesc, const void* beta, const void* C, blas_handle Cdesc, void* D,
                    blas_handle Ddesc, const void* algo, void* workspace, size_t workspaceSizeInBytes, void* stream);
