// serves: says its number; then for every number N on its input makes N rounds of calls and launches, and answers with
// the sum of all rounds. Its kernel is registered by a constructor, as those of hipcc are, and nothing but the stripped file
// tells its name.
#include "tracee.h"

static void stub(void) {}
static const void* const volatile handle = stub;  // the object whose address stands for the kernel

__attribute__((constructor)) static void register_kernels(void) {
  static const char name[] = "_Z6servedPfi";
  __hipRegisterFunction(__hipRegisterFatBinary(""), (const void*)&handle, (char*)name, name, ~0u, NULL, NULL, NULL, NULL, NULL);
}

int main(void) {
  const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
  int rounds = 0, sum = 0;
  printf("%d\n", (int)getpid());
  fflush(stdout);
  while (scanf("%d", &rounds) == 1) {
    for (int i = 0; i < rounds; ++i, ++sum) {
      some_calls(1);
      HIP_OK(hipLaunchKernel((const void*)&handle, grid, block, NULL, 0, NULL));
    }
    printf("%d\n", sum);
    fflush(stdout);
  }
}
