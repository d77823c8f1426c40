// Calls inside calls, a hundred deep, through both kinds of callback. recursion [DEPTH]
#include "tracee.h"

static int deepest, limit;
static void by_stream(hipStream_t stream, hipError_t status, void* arg);

static void by_function(void* arg) {
  const int depth = *(int*)arg + 1;
  if (depth > deepest) deepest = depth;
  if (depth < limit) HIP_OK(hipStreamAddCallback(NULL, by_stream, (void*)&depth, 0));
  HIP_OK(hipDeviceSynchronize());
}

static void by_stream(hipStream_t stream, hipError_t status, void* arg) {
  (void)stream, (void)status;
  const int depth = *(int*)arg + 1;
  if (depth > deepest) deepest = depth;
  if (depth < limit) HIP_OK(hipLaunchHostFunc(NULL, by_function, (void*)&depth));
}

int main(int argc, char** argv) {
  const int start = 0;
  limit = number(argc, argv, 1, 100);
  for (int i = 0; i < 5; ++i) HIP_OK(hipLaunchHostFunc(NULL, by_function, (void*)&start));
  printf("deepest %d\n", deepest);
}
