// Stand-ins for libraries above HIP: a few functions with the prototypes of rocBLAS, hipBLAS, hipBLASLt, cuBLAS, RCCL,
// MIOpen, rocFFT, hipFFT and cuFFT. Each function that computes launches kernels and writes a line to the file that
// FADE_STANDIN_LIBRARIES names.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct standin_object* standin_handle;
typedef struct {
  char internal[128];
} ncclUniqueId;

// rocBLAS. Operations are 111, 112 and 113; types are 150 (f16), 151 (f32) and 168 (bf16).
int rocblas_create_handle(standin_handle* handle);
int rocblas_destroy_handle(standin_handle handle);
int rocblas_sgemm(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                  int lda, const void* B, int ldb, const void* beta, void* C, int ldc);
int rocblas_zgemm_strided_batched(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                                  const void* A, int lda, int64_t stride_a, const void* B, int ldb, int64_t stride_b,
                                  const void* beta, void* C, int ldc, int64_t stride_c, int batch_count);
int rocblas_gemm_ex(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha,
                    const void* a, int a_type, int lda, const void* b, int b_type, int ldb, const void* beta,
                    const void* c, int c_type, int ldc, void* d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution_index, uint32_t flags);

// hipBLAS, which hands on to rocBLAS.
int hipblasSgemm(standin_handle handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* A,
                 int lda, const void* B, int ldb, const void* beta, void* C, int ldc);

// cuBLAS as ZLUDA stands in for it. Operations are 0 (N), 1 (T) and 2 (C).
int cublasDgemmStridedBatched(standin_handle handle, int transa, int transb, int m, int n, int k, const void* alpha,
                              const void* A, int lda, long long strideA, const void* B, int ldb, long long strideB,
                              const void* beta, void* C, int ldc, long long strideC, int batchCount);

// hipBLASLt. Types are 0 (f32), 2 (f16) and 14 (bf16).
int hipblasLtMatrixLayoutCreate(standin_handle* matLayout, int type, uint64_t rows, uint64_t cols, int64_t ld);
int hipblasLtMatrixLayoutSetAttribute(standin_handle matLayout, int attr, const void* buf, size_t sizeInBytes);
int hipblasLtMatmulDescCreate(standin_handle* matmulDesc, int computeType, int scaleType);
int hipblasLtMatmulDescSetAttribute(standin_handle matmulDesc, int attr, const void* buf, size_t sizeInBytes);
int hipblasLtMatmulAlgoGetHeuristic(standin_handle handle, standin_handle matmulDesc, standin_handle Adesc,
                                    standin_handle Bdesc, standin_handle Cdesc, standin_handle Ddesc,
                                    standin_handle pref, int requestedAlgoCount, void* heuristicResultsArray,
                                    int* returnAlgoCount);  // none for results of 96 rows
int hipblasLtMatmul(standin_handle handle, standin_handle matmulDesc, const void* alpha, const void* A,
                    standin_handle Adesc, const void* B, standin_handle Bdesc, const void* beta, const void* C,
                    standin_handle Cdesc, void* D, standin_handle Ddesc, const void* algo, void* workspace,
                    size_t workspaceSizeInBytes, void* stream);

// RCCL. Types are 6 (f16) and 7 (f32); operation 0 is the sum.
int ncclCommInitRank(standin_handle* comm, int nranks, ncclUniqueId commId, int rank);
int ncclCommInitAll(standin_handle* comm, int ndev, const int* devlist);
int ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, int datatype, int op, standin_handle comm,
                  void* stream);
int ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, int datatype, standin_handle comm,
                  void* stream);

// MIOpen. Types are 0 (f16), 1 (f32) and 5 (bf16). Sizes of tensors are N, C, H, W.
int miopenCreateTensorDescriptor(standin_handle* tensorDesc);
int miopenSet4dTensorDescriptor(standin_handle tensorDesc, int dataType, int n, int c, int h, int w);
int miopenSetTensorDescriptor(standin_handle tensorDesc, int dataType, int nbDims, const int* dimsA,
                              const int* stridesA);
int miopenDestroyTensorDescriptor(standin_handle tensorDesc);
int miopenCreateConvolutionDescriptor(standin_handle* convDesc);
int miopenInitConvolutionDescriptor(standin_handle convDesc, int c_mode, int pad_h, int pad_w, int stride_h,
                                    int stride_w, int dilation_h, int dilation_w);
int miopenInitConvolutionNdDescriptor(standin_handle convDesc, int spatialDim, const int* padA, const int* strideA,
                                      const int* dilationA, int c_mode);
int miopenSetConvolutionGroupCount(standin_handle convDesc, int groupCount);
int miopenFindConvolutionForwardAlgorithm(standin_handle handle, standin_handle xDesc, const void* x,
                                          standin_handle wDesc, const void* w, standin_handle convDesc,
                                          standin_handle yDesc, void* y, int requestAlgoCount, int* returnedAlgoCount,
                                          void* perfResults, void* workSpace, size_t workSpaceSize, int exhaustive);
int miopenConvolutionForward(standin_handle handle, const void* alpha, standin_handle xDesc, const void* x,
                             standin_handle wDesc, const void* w, standin_handle convDesc, int algo, const void* beta,
                             standin_handle yDesc, void* y, void* workSpace, size_t workSpaceSize);
int miopenConvolutionForwardImmediate(standin_handle handle, standin_handle wDesc, const void* w, standin_handle xDesc,
                                      const void* x, standin_handle convDesc, standin_handle yDesc, void* y,
                                      void* workSpace, size_t workSpaceSize, uint64_t solution_id);
int miopenConvolutionBackwardData(standin_handle handle, const void* alpha, standin_handle dyDesc, const void* dy,
                                  standin_handle wDesc, const void* w, standin_handle convDesc, int algo,
                                  const void* beta, standin_handle dxDesc, void* dx, void* workSpace,
                                  size_t workSpaceSize);
int miopenConvolutionBackwardWeights(standin_handle handle, const void* alpha, standin_handle dyDesc, const void* dy,
                                     standin_handle xDesc, const void* x, standin_handle convDesc, int algo,
                                     const void* beta, standin_handle dwDesc, void* dw, void* workSpace,
                                     size_t workSpaceSize);

// rocFFT, and hipFFT, which hands on to it. Types of hipFFT are 41 (C2C), 42 (R2C) and 105 (Z2Z).
int rocfft_plan_create(standin_handle* plan, int placement, int transform_type, int precision, size_t dimensions,
                       const size_t* lengths, size_t number_of_transforms, standin_handle description);
int rocfft_execute(standin_handle plan, void** in_buffer, void** out_buffer, standin_handle info);
int hipfftPlan2d(standin_handle* plan, int nx, int ny, int type);
int hipfftCreate(standin_handle* plan);
int hipfftMakePlanMany(standin_handle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                       int ostride, int odist, int type, int batch, size_t* workSize);
int hipfftExecR2C(standin_handle plan, void* idata, void* odata);
int hipfftExecZ2Z(standin_handle plan, void* idata, void* odata, int direction);

// cuFFT as ZLUDA stands in for it. A plan is a number.
int cufftPlan1d(int* plan, int nx, int type, int batch);
int cufftExecC2C(int plan, void* idata, void* odata, int direction);
