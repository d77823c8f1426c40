// serves: says its number; then for every number N on its input makes N rounds of calls and launches, and answers with
// the sum of all rounds; for a negative one a child makes them, and the answer is the child's number. Its kernel is
// registered by a constructor, as those of hipcc are, and nothing but the file tells its name.
#include <sys/wait.h>

#include "tracee.h"

static void stub(void) {}
static const void* const volatile handle = stub;  // the object whose address stands for the kernel

__attribute__((constructor)) static void register_kernels(void) {
  static const char name[] = "_Z6servedPfi";
  __hipRegisterFunction(__hipRegisterFatBinary(""), (const void*)&handle, (char*)name, name, ~0u, NULL, NULL, NULL,
                        NULL, NULL);
}

static void make(int rounds) {
  const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
  for (int i = 0; i < rounds; ++i) {
    some_calls(1);
    HIP_OK(hipLaunchKernel((const void*)&handle, grid, block, NULL, 0, NULL));
  }
}

static int by_child(int rounds) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    make(rounds);
    _exit(0);
  }
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  return (int)child;
}

int main(void) {
  int rounds = 0, sum = 0, answer = (int)getpid();
  do {
    printf("%d\n", answer);
    fflush(stdout);
    if (scanf("%d", &rounds) != 1) return 0;
    if (rounds > 0) make(rounds);
    answer = rounds < 0 ? by_child(-rounds) : (sum += rounds);
  } while (1);
}
