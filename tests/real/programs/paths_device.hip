// Kernels of a code object of its own (paths.hip): one file for the card, without a host side.
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#define __shared__ __attribute__((shared))

extern "C" __global__ void from_memory(float* to) { to[__builtin_amdgcn_workitem_id_x()] = 1; }
extern "C" __global__ void from_file(float* to) {
  __shared__ float lds[256];
  lds[__builtin_amdgcn_workitem_id_x() & 255] = to[0];
  to[1] = lds[3];
}
