// Functions of the runtime that call exported functions themselves.
#include "tracee.h"
#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int device);

int main(void) {
  hipDeviceProp_tR0000 prop;
  hipPitchedPtr pitched;
  void *a, *b;
  HIP_OK(hipGetDeviceProperties(&prop, 0));               // calls hipGetDevicePropertiesR0000 from 6.x on
  HIP_OK(hipMalloc3D(&pitched, (hipExtent){10, 10, 1}));  // hipMallocPitch
  HIP_OK(hipMalloc(&a, 64));
  HIP_OK(hipMalloc(&b, 64));
  HIP_OK(hipMemcpyPeer(a, 0, b, 0, 64));  // hipMemcpyAsync
  HIP_OK(hipMemcpyWithStream(a, b, 64, hipMemcpyDeviceToDevice, NULL));
  MUST(hipMalloc(&a, (size_t)1 << 45) == hipErrorOutOfMemory);  // hipMemGetInfo
  printf("nested\n");
}
