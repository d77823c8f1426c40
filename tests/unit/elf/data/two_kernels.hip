// The source of clang18.ccob, clang19.ccob and clang21.ccob: bundles of versions 1, 2 and 3 for gfx1030, gfx90a and gfx1100, as
// clang-offload-bundler 18 and 21 and clang 19 (-O2 -nogpuinc -nogpulib --offload-compress) of Debian wrote them.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
__global__ void scale(float* p, float f) { p[__builtin_amdgcn_workitem_id_x()] *= f; }
__global__ void tile(float* p, int n) {
  __shared__ float t[1024];
  const int i = __builtin_amdgcn_workitem_id_x();
  t[i] = p[i];
  __builtin_amdgcn_s_barrier();
  for (int k = 0; k < n; ++k) p[i] += t[(i + k) & 1023] * k;
}
