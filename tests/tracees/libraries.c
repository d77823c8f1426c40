// libraries ROUNDS: products, collective operations, convolutions and Fourier transforms through the stand-ins of
// libraries above HIP.
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
  standin_handle a, b, d, product;
  const int batch = 300, transposed = 112;
  const float one = 1;
  MUST(hipblasLtMatrixLayoutCreate(&a, 2, 96, 48, 96) == 0);  // transposed: k is 96
  MUST(hipblasLtMatrixLayoutCreate(&b, 2, 96, 24, 96) == 0);
  MUST(hipblasLtMatmulDescCreate(&product, 2, 0) == 0);
  MUST(hipblasLtMatmulDescSetAttribute(product, 0, &transposed, sizeof transposed) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&d, 2, 48, 24, 48) == 0);
  MUST(hipblasLtMatrixLayoutSetAttribute(d, 0, &batch, sizeof batch) == 0);
  MUST(hipblasLtMatmul(a, product, &one, &a, a, &b, b, &one, &d, d, &d, d, NULL, NULL, 0, NULL) == 0);
}

// hipBLASLt has no algorithm. hipBLAS computes the same sizes, the second time others.
static void fallbacks(standin_handle handle) {
  standin_handle a, b, d;
  char x[8];
  const float one = 1;
  int found;
  MUST(hipblasLtMatrixLayoutCreate(&a, 0, 96, 80, 96) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&b, 0, 80, 72, 80) == 0);
  MUST(hipblasLtMatrixLayoutCreate(&d, 0, 96, 72, 96) == 0);
  for (int i = 0; i < 2; ++i) {
    MUST(hipblasLtMatmulAlgoGetHeuristic(a, a, a, b, d, d, a, 1, x, &found) == 0 && found == 0);
    MUST(hipblasSgemm(handle, 111, 111, 96, 72, 80 + i, &one, x, 96, x, 80, &one, x, 96) == 0);
  }
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

static standin_handle tensor(int n, int c, int h, int w) {
  standin_handle out;
  MUST(miopenCreateTensorDescriptor(&out) == 0);
  MUST(miopenSet4dTensorDescriptor(out, 1, n, c, h, w) == 0);
  return out;
}

static void convolutions(int rounds) {
  const float one = 1;
  char x[8], w[8], y[8];
  int found;
  standin_handle image = tensor(32, 64, 28, 28), filter = tensor(128, 32, 3, 3), result = tensor(32, 128, 14, 14), conv;
  MUST(miopenCreateConvolutionDescriptor(&conv) == 0);
  MUST(miopenInitConvolutionDescriptor(conv, 0, 1, 1, 2, 2, 1, 1) == 0);
  MUST(miopenSetConvolutionGroupCount(conv, 2) == 0);
  MUST(miopenFindConvolutionForwardAlgorithm(NULL, image, x, filter, w, conv, result, y, 1, &found, y, NULL, 0, 0) ==
       0);
  for (int i = 0; i < rounds; ++i)
    MUST(miopenConvolutionForward(NULL, &one, image, x, filter, w, conv, 3, &one, result, y, NULL, 0) == 0);
  MUST(miopenConvolutionBackwardData(NULL, &one, result, y, filter, w, conv, 0, &one, image, x, NULL, 0) == 0);
  MUST(miopenConvolutionBackwardWeights(NULL, &one, result, y, image, x, conv, 1, &one, filter, w, NULL, 0) == 0);
  MUST(miopenConvolutionForwardImmediate(NULL, filter, w, image, x, conv, result, y, NULL, 0, 0) == 3);

  // The same descriptors with other sizes, channels last; their groups are gone.
  const int sizes[3][5] = {{1, 4, 6, 7, 8}, {5, 4, 2, 2, 2}, {1, 5, 3, 6, 7}}, strides[5] = {1344, 1, 224, 32, 4};
  const int pad[3] = {0, 0, 0}, stride[3] = {2, 1, 1}, dilation[3] = {1, 1, 1};
  MUST(miopenSetTensorDescriptor(image, 5, 5, sizes[0], strides) == 0);
  MUST(miopenSetTensorDescriptor(filter, 5, 5, sizes[1], strides) == 0);
  MUST(miopenDestroyTensorDescriptor(result) == 0 && miopenCreateTensorDescriptor(&result) == 0);
  MUST(miopenSetTensorDescriptor(result, 5, 5, sizes[2], strides) == 0);
  MUST(miopenInitConvolutionNdDescriptor(conv, 3, pad, stride, dilation, 0) == 0);
  MUST(miopenConvolutionForwardImmediate(NULL, filter, w, image, x, conv, result, y, NULL, 0, 85) == 0);
}

static void transforms(int rounds) {
  standin_handle real, many, own;
  char in[8], out[8];
  void *inputs[1] = {in}, *outputs[1] = {out};
  int plan, two[2] = {16, 100};
  size_t lengths[3] = {8, 16, 32}, size;
  MUST(hipfftPlan2d(&real, 64, 32, 42) == 0);
  for (int i = 0; i < rounds; ++i) MUST(hipfftExecR2C(real, in, out) == 0);
  MUST(hipfftCreate(&many) == 0);
  MUST(hipfftMakePlanMany(many, 2, two, NULL, 1, 1600, NULL, 1, 1600, 105, 7, &size) == 0);
  MUST(hipfftExecZ2Z(many, in, out, 1) == 0);
  MUST(rocfft_plan_create(&own, 0, 1, 1, 3, lengths, 5, NULL) == 0);
  MUST(rocfft_execute(own, inputs, outputs, NULL) == 0);
  MUST(cufftPlan1d(&plan, 1024, 41, 3) == 0);
  MUST(cufftExecC2C(plan, in, out, -1) == 0);
}

int main(int argc, char** argv) {
  standin_handle handle;
  const int rounds = number(argc, argv, 1, 3);
  MUST(rocblas_create_handle(&handle) == 0);
  products(handle, rounds);
  by_layouts();
  fallbacks(handle);
  collectives(rounds);
  convolutions(rounds);
  transforms(rounds);
  HIP_OK(hipDeviceSynchronize());
  MUST(rocblas_destroy_handle(handle) == 0);
  puts("done");
  return 0;
}
