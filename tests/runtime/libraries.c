// The libraries of libraries.h. Compiled once for each, with its part.
#include "libraries.h"

#include <hip/hip_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int hipblasLtMatmulDescCreate(standin_handle* matmulDesc, int computeType, int scaleType) {
  (void)computeType, (void)scaleType;
  *matmulDesc = calloc(1, sizeof **matmulDesc);
  return 0;
}

int hipblasLtMatmulDescSetAttribute(standin_handle matmulDesc, int attr, const void* buf, size_t sizeInBytes) {
  (void)matmulDesc, (void)attr, (void)buf, (void)sizeInBytes;
  return 0;
}

int hipblasLtMatmulAlgoGetHeuristic(standin_handle handle, standin_handle matmulDesc, standin_handle Adesc,
                                    standin_handle Bdesc, standin_handle Cdesc, standin_handle Ddesc,
                                    standin_handle pref, int requestedAlgoCount, void* heuristicResultsArray,
                                    int* returnAlgoCount) {
  (void)handle, (void)matmulDesc, (void)Adesc, (void)Bdesc, (void)Cdesc, (void)pref, (void)heuristicResultsArray;
  *returnAlgoCount = Ddesc->rows == 96 ? 0 : requestedAlgoCount;
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

#ifdef STANDIN_LIBRARY_MIOPEN
struct standin_object {
  int dims[5], rank, groups;
};

static int make(standin_handle* handle) {
  *handle = calloc(1, sizeof **handle);
  (*handle)->groups = 1;
  return 0;
}

static const char* sizes_of(standin_handle tensor, char* text) {
  int length = 0;
  for (int i = 0; i < tensor->rank; ++i) length += sprintf(text + length, i ? "x%d" : "%d", tensor->dims[i]);
  return text;
}

static int convolve(const char* name, standin_handle x, standin_handle w, standin_handle y, standin_handle conv,
                    void* stream) {
  char a[80], b[80], c[80];
  note("%s %s %s %s %d\n", name, sizes_of(x, a), sizes_of(w, b), sizes_of(y, c), conv->groups);
  return launch(1, "miopenSp3AsmConv", stream);
}

int miopenCreateTensorDescriptor(standin_handle* tensorDesc) { return make(tensorDesc); }

int miopenSet4dTensorDescriptor(standin_handle tensorDesc, int dataType, int n, int c, int h, int w) {
  (void)dataType;
  *tensorDesc = (struct standin_object){{n, c, h, w, 0}, 4, 1};
  return 0;
}

int miopenSetTensorDescriptor(standin_handle tensorDesc, int dataType, int nbDims, const int* dimsA,
                              const int* stridesA) {
  (void)dataType, (void)stridesA;
  if (nbDims > 5) return 3;
  for (int i = 0; i < nbDims; ++i) tensorDesc->dims[i] = dimsA[i];
  tensorDesc->rank = nbDims;
  return 0;
}

int miopenDestroyTensorDescriptor(standin_handle tensorDesc) {
  free(tensorDesc);
  return 0;
}

int miopenCreateConvolutionDescriptor(standin_handle* convDesc) { return make(convDesc); }

int miopenInitConvolutionDescriptor(standin_handle convDesc, int c_mode, int pad_h, int pad_w, int stride_h,
                                    int stride_w, int dilation_h, int dilation_w) {
  (void)c_mode, (void)pad_h, (void)pad_w, (void)stride_h, (void)stride_w, (void)dilation_h, (void)dilation_w;
  convDesc->groups = 1;
  return 0;
}

int miopenInitConvolutionNdDescriptor(standin_handle convDesc, int spatialDim, const int* padA, const int* strideA,
                                      const int* dilationA, int c_mode) {
  (void)spatialDim, (void)padA, (void)strideA, (void)dilationA, (void)c_mode;
  convDesc->groups = 1;
  return 0;
}

int miopenSetConvolutionGroupCount(standin_handle convDesc, int groupCount) {
  convDesc->groups = groupCount;
  return 0;
}

int miopenFindConvolutionForwardAlgorithm(standin_handle handle, standin_handle xDesc, const void* x,
                                          standin_handle wDesc, const void* w, standin_handle convDesc,
                                          standin_handle yDesc, void* y, int requestAlgoCount, int* returnedAlgoCount,
                                          void* perfResults, void* workSpace, size_t workSpaceSize, int exhaustive) {
  (void)xDesc, (void)x, (void)wDesc, (void)w, (void)convDesc, (void)yDesc, (void)y, (void)perfResults;
  (void)requestAlgoCount, (void)workSpace, (void)workSpaceSize, (void)exhaustive;
  *returnedAlgoCount = 1;
  return launch(3, "naive_conv_fwd_nchw", handle);
}

int miopenConvolutionForward(standin_handle handle, const void* alpha, standin_handle xDesc, const void* x,
                             standin_handle wDesc, const void* w, standin_handle convDesc, int algo, const void* beta,
                             standin_handle yDesc, void* y, void* workSpace, size_t workSpaceSize) {
  (void)alpha, (void)x, (void)w, (void)algo, (void)beta, (void)y, (void)workSpace, (void)workSpaceSize;
  return convolve("miopenConvolutionForward", xDesc, wDesc, yDesc, convDesc, handle);
}

int miopenConvolutionForwardImmediate(standin_handle handle, standin_handle wDesc, const void* w, standin_handle xDesc,
                                      const void* x, standin_handle convDesc, standin_handle yDesc, void* y,
                                      void* workSpace, size_t workSpaceSize, uint64_t solution_id) {
  (void)x, (void)w, (void)y, (void)workSpace, (void)workSpaceSize;
  if (solution_id == 0) return 3;
  return convolve("miopenConvolutionForwardImmediate", xDesc, wDesc, yDesc, convDesc, handle);
}

int miopenConvolutionBackwardData(standin_handle handle, const void* alpha, standin_handle dyDesc, const void* dy,
                                  standin_handle wDesc, const void* w, standin_handle convDesc, int algo,
                                  const void* beta, standin_handle dxDesc, void* dx, void* workSpace,
                                  size_t workSpaceSize) {
  (void)alpha, (void)dy, (void)w, (void)algo, (void)beta, (void)dx, (void)workSpace, (void)workSpaceSize;
  return convolve("miopenConvolutionBackwardData", dxDesc, wDesc, dyDesc, convDesc, handle);
}

int miopenConvolutionBackwardWeights(standin_handle handle, const void* alpha, standin_handle dyDesc, const void* dy,
                                     standin_handle xDesc, const void* x, standin_handle convDesc, int algo,
                                     const void* beta, standin_handle dwDesc, void* dw, void* workSpace,
                                     size_t workSpaceSize) {
  (void)alpha, (void)dy, (void)x, (void)algo, (void)beta, (void)dw, (void)workSpace, (void)workSpaceSize;
  return convolve("miopenConvolutionBackwardWeights", xDesc, dwDesc, dyDesc, convDesc, handle);
}
#endif

#ifdef STANDIN_LIBRARY_ROCFFT
struct standin_object {
  size_t lengths[3], dimensions, batch;
};

int rocfft_plan_create(standin_handle* plan, int placement, int transform_type, int precision, size_t dimensions,
                       const size_t* lengths, size_t number_of_transforms, standin_handle description) {
  (void)placement, (void)transform_type, (void)precision, (void)description;
  *plan = calloc(1, sizeof **plan);
  for (size_t i = 0; i < dimensions; ++i) (*plan)->lengths[i] = lengths[i];
  (*plan)->dimensions = dimensions;
  (*plan)->batch = number_of_transforms;
  return 0;
}

int rocfft_execute(standin_handle plan, void** in_buffer, void** out_buffer, standin_handle info) {
  (void)in_buffer, (void)out_buffer;
  char text[80] = "";
  for (size_t i = plan->dimensions; i-- > 0;) sprintf(text + strlen(text), i ? "%zux" : "%zu", plan->lengths[i]);
  note("rocfft_execute %s %zu\n", text, plan->batch);
  return launch(1, "fft_rtc_fwd_len64", info);
}
#endif

#ifdef STANDIN_LIBRARY_HIPFFT
struct standin_object {
  standin_handle inner;
  int n[3], rank, batch;
};

static int plan_of(standin_handle plan, int rank, const int* n, int batch) {
  size_t lengths[3] = {0};
  plan->rank = rank;
  plan->batch = batch;
  for (int i = 0; i < rank; ++i) lengths[rank - 1 - i] = (size_t)(plan->n[i] = n[i]);
  return rocfft_plan_create(&plan->inner, 1, 0, 0, (size_t)rank, lengths, (size_t)batch, NULL);
}

int hipfftCreate(standin_handle* plan) {
  *plan = calloc(1, sizeof **plan);
  return 0;
}

int hipfftPlan2d(standin_handle* plan, int nx, int ny, int type) {
  (void)type;
  const int n[2] = {nx, ny};
  *plan = calloc(1, sizeof **plan);
  return plan_of(*plan, 2, n, 1);
}

int hipfftMakePlanMany(standin_handle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                       int ostride, int odist, int type, int batch, size_t* workSize) {
  (void)inembed, (void)istride, (void)idist, (void)onembed, (void)ostride, (void)odist, (void)type;
  *workSize = 0;
  return plan_of(plan, rank, n, batch);
}

static int transform(const char* name, standin_handle plan, void* idata, void* odata) {
  char text[80] = "";
  for (int i = 0; i < plan->rank; ++i) sprintf(text + strlen(text), i ? "x%d" : "%d", plan->n[i]);
  note("%s %s %d\n", name, text, plan->batch);
  return rocfft_execute(plan->inner, &idata, &odata, NULL);
}

int hipfftExecR2C(standin_handle plan, void* idata, void* odata) {
  return transform("hipfftExecR2C", plan, idata, odata);
}

int hipfftExecZ2Z(standin_handle plan, void* idata, void* odata, int direction) {
  (void)direction;
  return transform("hipfftExecZ2Z", plan, idata, odata);
}
#endif

#ifdef STANDIN_LIBRARY_CUFFT
static int lengths[8], batches[8], plans;

int cufftPlan1d(int* plan, int nx, int type, int batch) {
  (void)type;
  if (plans == 8) return 2;
  lengths[plans] = nx;
  batches[plans] = batch;
  *plan = plans++;
  return 0;
}

int cufftExecC2C(int plan, void* idata, void* odata, int direction) {
  (void)idata, (void)odata, (void)direction;
  note("cufftExecC2C %d %d\n", lengths[plan], batches[plan]);
  return launch(1, "fft_fwd_len1024", NULL);
}
#endif
