// products HOW [N]: products of matrices through BLAS that computes. Prints a checksum of each result, and ends with 3
// if the thread's signal mask or the stack below it is not as before.
#include <pthread.h>
#include <signal.h>

#include "blas.h"
#include "tracee.h"

enum { none = 111, transpose = 112, conjugate = 113, f16 = 150, f32 = 151, bf16 = 168 };
enum { most = 64 * 64 * 4 };

struct matrices {
  void *a, *b, *c;
};

static struct matrices allocate(size_t bytes) {
  struct matrices out;
  HIP_OK(hipMalloc(&out.a, bytes));
  HIP_OK(hipMalloc(&out.b, bytes));
  HIP_OK(hipMalloc(&out.c, bytes));
  return out;
}

static void release(struct matrices m) {
  HIP_OK(hipFree(m.a));
  HIP_OK(hipFree(m.b));
  HIP_OK(hipFree(m.c));
}

static void fill(void* at, size_t n, unsigned seed) {
  float values[most];
  for (size_t i = 0; i < n; ++i) values[i] = (float)((i * 7 + seed * 13) % 32) / 8 - 2;
  HIP_OK(hipMemcpy(at, values, n * sizeof values[0], hipMemcpyHostToDevice));
}

static void fill_doubles(void* at, size_t n, unsigned seed) {
  double values[most];
  for (size_t i = 0; i < n; ++i) values[i] = (double)((i * 5 + seed * 11) % 64) / 16 - 2;
  HIP_OK(hipMemcpy(at, values, n * sizeof values[0], hipMemcpyHostToDevice));
}

static void fill_halves(void* at, size_t n) {  // 1, 1.5, ... in f16 or, with other meanings, in bf16
  uint16_t values[most];
  for (size_t i = 0; i < n; ++i) values[i] = (uint16_t)(0x3c00 + (i * 64) % 1024);
  HIP_OK(hipMemcpy(at, values, n * sizeof values[0], hipMemcpyHostToDevice));
}

static unsigned long sum_of(const void* at, size_t bytes) {
  static _Thread_local unsigned char result[most * sizeof(double)];
  HIP_OK(hipMemcpy(result, at, bytes, hipMemcpyDeviceToHost));
  unsigned long out = 14695981039346656037ul;
  for (size_t i = 0; i < bytes; ++i) out = (out ^ result[i]) * 1099511628211ul;
  return out;
}

static void check_mask(void) {
  sigset_t mask;
  MUST(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
  for (int signal = 1; signal < 32; ++signal)
    if (sigismember(&mask, signal) != (signal == SIGUSR2)) exit(3);
}

// beta 0.5, so the result depends on the former one.
static unsigned long sgemms(int rounds, void* stream, unsigned seed) {
  blas_handle handle;
  MUST(rocblas_create_handle(&handle) == 0 && rocblas_set_stream(handle, stream) == 0);
  const struct matrices m = allocate(most * sizeof(float));
  const float alpha = 1.5f, beta = 0.5f;
  fill(m.a, 24 * 16, seed);
  fill(m.b, 16 * 20, seed + 1);
  fill(m.c, 24 * 20, seed + 2);
  for (int i = 0; i < rounds; ++i) {
    MUST(rocblas_sgemm(handle, none, none, 20, 18, 16, &alpha, m.a, 24, m.b, 16, &beta, m.c, 24) == 0);
    check_mask();
  }
  const unsigned long out = sum_of(m.c, 24 * 20 * sizeof(float));
  release(m);
  MUST(rocblas_destroy_handle(handle) == 0);
  return out;
}

static void kinds(void) {
  blas_handle handle;
  MUST(rocblas_create_handle(&handle) == 0);
  const struct matrices m = allocate(most * sizeof(double));
  const float one = 1, zero = 0, pair[2] = {0.5f, -1}, no_pair[2] = {0, 0};
  const double done[2] = {1, 0.25}, dzero[2] = {0, 0};
  fill(m.a, most, 1);
  fill(m.b, most, 2);
  MUST(rocblas_sgemm(handle, transpose, none, 10, 12, 14, &one, m.a, 15, m.b, 14, &zero, m.c, 10) == 0);
  printf("s %lx\n", sum_of(m.c, 480));
  MUST(hipblasSgemm(handle, none, transpose, 9, 8, 7, &one, m.a, 9, m.b, 8, &one, m.c, 9) == 0);
  printf("hipblas %lx\n", sum_of(m.c, 288));
  MUST(rocblas_cgemm(handle, conjugate, none, 6, 5, 4, pair, m.a, 4, m.b, 4, no_pair, m.c, 6) == 0);
  printf("c %lx\n", sum_of(m.c, 240));
  MUST(rocblas_sgemm_strided_batched(handle, none, none, 4, 4, 4, &one, m.a, 4, 100, m.b, 4, 0, &zero, m.c, 4, 16, 5) ==
       0);
  printf("batched %lx\n", sum_of(m.c, 320));
  fill_doubles(m.a, 400, 3);
  fill_doubles(m.b, 400, 4);
  MUST(rocblas_dgemm(handle, transpose, transpose, 10, 10, 10, done, m.a, 10, m.b, 10, dzero, m.c, 11) == 0);
  printf("d %lx\n", sum_of(m.c, 8));
  MUST(rocblas_zgemm(handle, none, conjugate, 5, 6, 7, done, m.a, 5, m.b, 6, dzero, m.c, 5) == 0);
  printf("z %lx\n", sum_of(m.c, 480));
  fill_halves(m.a, 400);
  fill_halves(m.b, 400);
  MUST(rocblas_gemm_ex(handle, none, none, 8, 8, 8, &one, m.a, f16, 8, m.b, f16, 8, &zero, m.c, f32, 8, m.c, f32, 8,
                       f32, 0, 0, 0) == 0);
  printf("ex %lx\n", sum_of(m.c, 256));
  MUST(rocblas_gemm_ex(handle, transpose, none, 8, 8, 8, &one, m.a, bf16, 8, m.b, bf16, 8, &zero, m.c, bf16, 8, m.c,
                       bf16, 8, f32, 0, 0, 0) == 0);
  printf("bf16 %lx\n", sum_of(m.c, 128));
  release(m);
}

static void by_layouts(void) {
  blas_handle a, b, d, product;
  const struct matrices m = allocate(most * sizeof(float));
  const int transposed = transpose, epilogue = 4;
  const float one = 1, half = 0.5f;
  fill(m.a, 400, 1);
  fill(m.b, 400, 2);
  fill(m.c, 400, 3);
  MUST(hipblasLtMatrixLayoutCreate(&a, 0, 12, 10, 12) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&b, 0, 12, 8, 12) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&d, 0, 10, 8, 10) == 0);
  MUST(hipblasLtMatmulDescCreate(&product, 2, 0) == 0);
  MUST(hipblasLtMatmulDescSetAttribute(product, 0, &transposed, sizeof transposed) == 0);
  MUST(hipblasLtMatmul(a, product, &one, m.a, a, m.b, b, &half, m.c, d, m.c, d, NULL, NULL, 0, NULL) == 0);
  printf("lt %lx\n", sum_of(m.c, 320));
  MUST(hipblasLtMatmulDescSetAttribute(product, 2, &epilogue, sizeof epilogue) == 0);
  MUST(hipblasLtMatmul(a, product, &one, m.a, a, m.b, b, &half, m.c, d, m.c, d, NULL, NULL, 0, NULL) == 0);
  release(m);
}

// What cannot be checked: a captured stream, alpha on the GPU, a failed call, a pending error, lists of matrices.
static void refused(void) {
  blas_handle handle;
  hipStream_t stream;
  hipGraph_t graph;
  HIP_OK(hipStreamCreate(&stream));
  MUST(rocblas_create_handle(&handle) == 0 && rocblas_set_stream(handle, stream) == 0);
  const struct matrices m = allocate(most * sizeof(float));
  const float one = 1, zero = 0;
  fill(m.a, 64, 1);
  fill(m.b, 64, 2);
  HIP_OK(hipStreamBeginCapture(stream, 0));
  MUST(rocblas_sgemm(handle, none, none, 4, 4, 4, &one, m.a, 4, m.b, 4, &zero, m.c, 4) == 0);
  HIP_OK(hipStreamEndCapture(stream, &graph));
  MUST(rocblas_set_pointer_mode(handle, 1) == 0);
  MUST(rocblas_sgemm(handle, none, none, 4, 4, 4, &one, m.a, 4, m.b, 4, &zero, m.c, 4) == 0);
  MUST(rocblas_set_pointer_mode(handle, 0) == 0);
  MUST(rocblas_sgemm(handle, none, none, -4, 4, 4, &one, m.a, 4, m.b, 4, &zero, m.c, 4) == 3);
  MUST(hipFree((void*)1) != hipSuccess);
  MUST(rocblas_sgemm(handle, none, none, 4, 4, 4, &one, m.a, 4, m.b, 4, &zero, m.c, 4) == 0);
  printf("error %d\n", (int)hipGetLastError());
  void *as[1] = {m.a}, *bs[1] = {m.b}, *cs[1] = {m.c};
  MUST(rocblas_sgemm_batched(handle, none, none, 4, 4, 4, &one, as, 4, bs, 4, &zero, cs, 4, 1) == 0);
  MUST(rocblas_sgemm(handle, none, none, 4, 4, 4, &one, m.a, 4, m.b, 4, &zero, m.c, 4) == 0);
  release(m);
}

static void* in_thread(void* rounds) {
  hipStream_t stream;
  HIP_OK(hipStreamCreate(&stream));
  return (void*)sgemms(*(int*)rounds, stream, 5);
}

static void threads(int rounds) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) MUST(pthread_create(&all[i], NULL, in_thread, &rounds) == 0);
  for (int i = 0; i < 4; ++i) {
    void* sum;
    MUST(pthread_join(all[i], &sum) == 0);
    printf("thread %lx\n", (unsigned long)sum);
  }
}

// A million elements in each matrix.
static void large(int rounds) {
  blas_handle handle;
  MUST(rocblas_create_handle(&handle) == 0);
  const struct matrices m = allocate(4 << 20);
  const float one = 1, zero = 0;
  fill(m.a, most, 1);
  fill(m.b, most, 2);
  for (int i = 0; i < rounds; ++i)
    MUST(rocblas_sgemm(handle, none, none, 1024, 1024, 1, &one, m.a, 1024, m.b, 1, &zero, m.c, 1024) == 0);
  printf("large %lx\n", sum_of(m.c, 4096));
  release(m);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "plain";
  const int rounds = number(argc, argv, 2, 20);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR2);
  MUST(pthread_sigmask(SIG_SETMASK, &own, NULL) == 0);
  if (strcmp(how, "plain") == 0) printf("plain %lx\n", sgemms(rounds, NULL, 1));
  else if (strcmp(how, "kinds") == 0) kinds();
  else if (strcmp(how, "lt") == 0) by_layouts();
  else if (strcmp(how, "refused") == 0) refused();
  else if (strcmp(how, "threads") == 0) threads(rounds);
  else large(rounds);
  return 0;
}
