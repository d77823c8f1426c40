// Memory, where ZLUDA does more than to hand the call on.
#include "zluda.h"

hipError_t hipStreamIsCapturing(hipStream_t stream, int* status);
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream);
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream);
hipError_t hipMemcpy_spt(void* to, const void* from, size_t bytes, hipMemcpyKind kind);

// CUDA gives memory that is zero, HIP does not.
CU(cuMemAlloc_v2)(hipDeviceptr_t* out, size_t bytes) {
  ENTER_CU(cuMemAlloc_v2);
  int capturing = 0;
  HIP_CALL(hipMalloc(out, bytes));
  HIP_CALL(hipStreamIsCapturing(NULL, &capturing));
  if (capturing) return CUDA_SUCCESS;
  HIP_CALL(hipMemsetD8Async(*out, 0, bytes, NULL));
  return hipStreamSynchronize(NULL);
}

CU(cuMemcpyHtoD_v2_ptds)(hipDeviceptr_t to, const void* from, size_t bytes) {
  ENTER_CU(cuMemcpyHtoD_v2_ptds);
  return hipMemcpy_spt(to, from, bytes, hipMemcpyHostToDevice);
}

CU(cuMemcpyDtoH_v2_ptds)(void* to, hipDeviceptr_t from, size_t bytes) {
  ENTER_CU(cuMemcpyDtoH_v2_ptds);
  return hipMemcpy_spt(to, from, bytes, hipMemcpyDeviceToHost);
}

CU(cuMemcpyAsync)(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  ENTER_CU(cuMemcpyAsync);
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, stream);
}

CU(cuMemsetD2D32_v2)(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height) {
  ENTER_CU(cuMemsetD2D32_v2);
  return hipMemset2D(to, pitch, (int)value, width * 4, height);
}

CU(cuMemsetD2D32Async)
(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height, hipStream_t stream) {
  ENTER_CU(cuMemsetD2D32Async);
  return hipMemset2DAsync(to, pitch, (int)value, width * 4, height, stream);
}

CU(cuEventRecordWithFlags)(hipEvent_t event, hipStream_t stream, unsigned flags) {
  ENTER_CU(cuEventRecordWithFlags);
  (void)flags;
  return hipEventRecord(event, stream);
}

CU(cuEventElapsedTime_v2)(float* ms, hipEvent_t start, hipEvent_t stop) {
  ENTER_CU(cuEventElapsedTime_v2);
  return hipEventElapsedTime(ms, start, stop);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, int* status, unsigned long long* id, void** graph,
                                      const void** nodes, size_t* count);
CU(cuStreamGetCaptureInfo_v3)
(hipStream_t stream, int* status, unsigned long long* id, void** graph, const void** nodes, const void** edges,
 size_t* count) {
  ENTER_CU(cuStreamGetCaptureInfo_v3);
  if (edges) *edges = NULL;
  return hipStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
