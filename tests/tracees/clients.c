// Libraries between the program and the runtime ask for it: linked with the fake libtorch_hip and librocblas.
#include "tracee.h"

int torch_multiprocessors(int device);
int torch_multiprocessors_by_attribute(int device);
int torch_allocate(void** out, size_t bytes);
int rocblas_sgemm(int n);
int rocblas_multiprocessors(int device);

int main(void) {
  hipDeviceProp_t prop;
  int attribute = 0;
  void* p = NULL;
  HIP_OK(hipGetDeviceProperties(&prop, 0));
  HIP_OK(hipDeviceGetAttribute(&attribute, hipDeviceAttributeMultiprocessorCount, 0));
  printf("program %d %d\n", prop.multiProcessorCount, attribute);
  printf("torch %d %d\n", torch_multiprocessors(0), torch_multiprocessors_by_attribute(0));
  printf("rocblas %d\n", rocblas_multiprocessors(0));
  MUST(!torch_allocate(&p, 1 << 20));
  for (int i = 0; i < 7; ++i) MUST(!rocblas_sgemm(64));
  HIP_OK(hipFree(p));
}
