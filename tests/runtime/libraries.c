// The libraries of libraries.h. Compiled once for each, with its part.
#include "libraries.h"

#include <hip/hip_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// A line that the test compares with the recording.
static void note(const char* format, ...) {
  const char* path = getenv("FADE_STANDIN_LIBRARIES");
  FILE* file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fclose(file);
}

__attribute__((unused)) static int launch(int times, const char* name, void* stream) {
  static const void* kernel;
  static int registered;
  if (!registered) {
    void** module = __hipRegisterFatBinary(NULL);
    __hipRegisterFunction(module, &kernel, NULL, (char*)name, 0, NULL, NULL, NULL, NULL, NULL);
    registered = 1;
  }
  const dim3 grid = {4, 1, 1}, block = {64, 1, 1};
  for (int i = 0; i < times; ++i)
    if (hipLaunchKernel(&kernel, grid, block, NULL, 0, stream) != hipSuccess) return 1;
  return 0;
}

#ifdef STANDIN_LIBRARY_ROCBLAS
int rocblas_create_handle(standin_handle* handle) { return hipMalloc((void**)handle, 4096); }
int rocblas_destroy_handle(standin_handle handle) { return hipFree(handle); }

int rocblas_sgemm(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc) {
  (void)handle, (void)transA, (void)transB, (void)alpha, (void)A, (void)B, (void)beta, (void)C;
  note("rocblas_sgemm %d %d %d 1 %d %d %d\n", m, n, k, lda, ldb, ldc);
  return m < 0 ? 3 : launch(1, "Cijk_SB", NULL);
}

int rocblas_zgemm_strided_batched(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                                  const void* A, int lda, int64_t stride_a, const void* B, int ldb, int64_t stride_b,
                                  const void* beta, void* C, int ldc, int64_t stride_c, int batch_count) {
  (void)handle, (void)transA, (void)transB, (void)alpha, (void)A, (void)B, (void)beta, (void)C;
  (void)stride_a, (void)stride_b, (void)stride_c;
  note("rocblas_zgemm_strided_batched %d %d %d %d %d %d %d\n", m, n, k, batch_count, lda, ldb, ldc);
  return launch(1, "Cijk_ZB", NULL);
}

int rocblas_gemm_ex(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                    const void* a, int a_type, int lda, const void* b, int b_type, int ldb, const void* beta,
                    const void* c, int c_type, int ldc, void* d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution_index, uint32_t flags) {
  (void)handle, (void)transA, (void)transB, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)d, (void)ldc;
  (void)a_type, (void)b_type, (void)c_type, (void)d_type, (void)compute_type, (void)algo, (void)solution_index;
  (void)flags;
  note("rocblas_gemm_ex %d %d %d 1 %d %d %d\n", m, n, k, lda, ldb, ldd);
  return launch(2, "Cijk_HB", NULL);
}
#endif

#ifdef STANDIN_LIBRARY_HIPBLAS
int hipblasSgemm(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                 int lda, const void* B, int ldb, const void* beta, void* C, int ldc) {
  note("hipblasSgemm %d %d %d 1 %d %d %d\n", m, n, k, lda, ldb, ldc);
  return rocblas_sgemm(handle, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc) ? 1 : 0;
}
#endif

#ifdef STANDIN_LIBRARY_CUBLAS
int cublasDgemmStridedBatched(standin_handle handle, int transa, int transb, int m, int n, int k, const void* alpha,
                              const void* A, int lda, long long strideA, const void* B, int ldb, long long strideB,
                              const void* beta, void* C, int ldc, long long strideC, int batchCount) {
  (void)handle, (void)transa, (void)transb, (void)alpha, (void)A, (void)B, (void)beta, (void)C;
  (void)strideA, (void)strideB, (void)strideC;
  note("cublasDgemmStridedBatched %d %d %d %d %d %d %d\n", m, n, k, batchCount, lda, ldb, ldc);
  return launch(1, "Cijk_DB", NULL);
}
#endif

#ifdef STANDIN_LIBRARY_HIPBLASLT
struct standin_object {
  uint64_t rows, cols, ld;
  int batch;
};

int hipblasLtMatrixLayoutCreate(standin_handle* matLayout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  (void)type;
  *matLayout = malloc(sizeof **matLayout);
  **matLayout = (struct standin_object){rows, cols, (uint64_t)ld, 1};
  return 0;
}

int hipblasLtMatrixLayoutSetAttribute(standin_handle matLayout, int attr, const void* buf, size_t sizeInBytes) {
  (void)sizeInBytes;
  if (attr == 0) matLayout->batch = *(const int*)buf;
  return 0;
}

int hipblasLtMatmul(standin_handle handle, standin_handle matmulDesc, const void* alpha, const void* A,
                    standin_handle Adesc, const void* B, standin_handle Bdesc, const void* beta, const void* C,
                    standin_handle Cdesc, void* D, standin_handle Ddesc, const void* algo, void* workspace,
                    size_t workspaceSizeInBytes, void* stream) {
  (void)handle, (void)matmulDesc, (void)alpha, (void)A, (void)B, (void)beta, (void)C, (void)Cdesc, (void)D, (void)algo;
  (void)workspace, (void)workspaceSizeInBytes;
  const int k = (int)(Adesc->rows * Adesc->cols / Ddesc->rows);
  note("hipblasLtMatmul %d %d %d %d %d %d %d\n", (int)Ddesc->rows, (int)Ddesc->cols, k, Ddesc->batch, (int)Adesc->ld,
       (int)Bdesc->ld, (int)Ddesc->ld);
  return launch(1, "Cijk_Lt", stream);
}
#endif

#ifdef STANDIN_LIBRARY_RCCL
struct standin_object {
  int ranks;
};

static standin_handle communicator(int ranks) {
  standin_handle out = malloc(sizeof *out);
  out->ranks = ranks;
  return out;
}

int ncclCommInitRank(standin_handle* comm, int nranks, ncclUniqueId commId, int rank) {
  (void)commId, (void)rank;
  *comm = communicator(nranks);
  return 0;
}

int ncclCommInitAll(standin_handle* comm, int ndev, const int* devlist) {
  (void)devlist;
  for (int i = 0; i < ndev; ++i) comm[i] = communicator(ndev);
  return 0;
}

int ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, int datatype, int op, standin_handle comm,
                  void* stream) {
  (void)sendbuff, (void)recvbuff, (void)datatype, (void)op;
  note("AllReduce %d %zu\n", comm->ranks, count);
  return launch(1, "ncclDevKernel_AllReduce", stream);
}

int ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, int datatype, standin_handle comm,
                  void* stream) {
  (void)sendbuff, (void)recvbuff, (void)datatype;
  note("AllGather %d %zu\n", comm->ranks, sendcount);
  return launch(1, "ncclDevKernel_AllGather", stream);
}
#endif
