// libraries ROUNDS: products and collective operations through the stand-ins of libraries above HIP.
#include "libraries.h"

#include "tracee.h"

enum { none = 111, transpose = 112, f16 = 150, f32 = 151 };

static void products(standin_handle handle, int rounds) {
  const float one = 1;
  char a[8], b[8], c[8];
  for (int i = 0; i < rounds; ++i) {
    MUST(rocblas_sgemm(handle, none, transpose, 128, 64, 32, &one, a, 130, b, 66, &one, c, 131) == 0);
    MUST(hipblasSgemm(handle, 111, 111, 256, 64, 32, &one, a, 256, b, 32, &one, c, 256) == 0);
  }
  MUST(rocblas_zgemm_strided_batched(handle, none, none, 16, 8, 4, &one, a, 16, 64, b, 4, 32, &one, c, 16, 128, 10) ==
       0);
  MUST(rocblas_gemm_ex(handle, transpose, none, 512, 256, 1024, &one, a, f16, 1024, b, f16, 1024, &one, c, f16, 512, c,
                       f16, 512, f32, 0, 0, 0) == 0);
  MUST(cublasDgemmStridedBatched(handle, 1, 2, 40, 30, 20, &one, a, 20, 800, b, 30, 600, &one, c, 40, 1200, 7) == 0);
  MUST(rocblas_sgemm(handle, none, none, -1, 1, 1, &one, a, 1, b, 1, &one, c, 1) == 3);
}

static void by_layouts(void) {
  standin_handle a, b, d;
  const int batch = 300;
  const float one = 1;
  MUST(hipblasLtMatrixLayoutCreate(&a, 2, 96, 48, 96) == 0);  // transposed: k is 96
  MUST(hipblasLtMatrixLayoutCreate(&b, 2, 96, 24, 96) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&d, 2, 48, 24, 48) == 0);
  MUST(hipblasLtMatrixLayoutSetAttribute(d, 0, &batch, sizeof batch) == 0);
  MUST(hipblasLtMatmul(a, a, &one, &a, a, &b, b, &one, &d, d, &d, d, NULL, NULL, 0, NULL) == 0);
}

static void collectives(int rounds) {
  standin_handle one, both[2];
  const int devices[2] = {0, 1};
  const ncclUniqueId id = {"name"};
  char send[8], receive[8];
  MUST(ncclCommInitRank(&one, 4, id, 1) == 0);
  MUST(ncclCommInitAll(both, 2, devices) == 0);
  for (int i = 0; i < rounds; ++i) MUST(ncclAllReduce(send, receive, 1 << 20, 7, 0, one, NULL) == 0);
  MUST(ncclAllGather(send, receive, 1000, 6, both[1], NULL) == 0);
}

int main(int argc, char** argv) {
  standin_handle handle;
  const int rounds = number(argc, argv, 1, 3);
  MUST(rocblas_create_handle(&handle) == 0);
  products(handle, rounds);
  by_layouts();
  collectives(rounds);
  HIP_OK(hipDeviceSynchronize());
  MUST(rocblas_destroy_handle(handle) == 0);
  puts("done");
  return 0;
}
