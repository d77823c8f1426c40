// Does what its words say, one after the other, so that a test knows what is true of it: parts alloc launch=3 wait free
// alloc, free: 1 MiB; free frees what was allocated last, refree the same again. launch=N: N launches of first() and
// second() by turns. copy, count, sync: a call each; pin: a copy from pinned memory. fail: a call that fails; oom: one
// that asks for more memory than there is. exec: the words behind it are for a new image of the program. wait: says
// "waiting", and goes on after a line on standard input.
#include <unistd.h>

#include "tracee.h"

enum { kBytes = 1 << 20, kMost = 64 };

extern const void* const one __asm__("_Z5firstPfi");
extern const void* const two __asm__("_Z6secondPfi");
const void *const one = "one", *const two = "two";

static void* blocks[kMost];
static int held;

static void launch(long times) {
  void** modules = __hipRegisterFatBinary("");
  __hipRegisterFunction(modules, &one, "_Z5firstPfi", "_Z5firstPfi", ~0u, NULL, NULL, NULL, NULL, NULL);
  __hipRegisterFunction(modules, &two, "_Z6secondPfi", "_Z6secondPfi", ~0u, NULL, NULL, NULL, NULL, NULL);
  for (long i = 0; i < times; ++i)
    HIP_OK(hipLaunchKernel(i % 2 ? &two : &one, (dim3){4, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL));
}

static void allocate(void) {
  MUST(held < kMost);
  HIP_OK(hipMalloc(&blocks[held++], kBytes));
}

static void copy_from_pinned(void) {
  void *from = NULL, *to = NULL;
  HIP_OK(hipHostMalloc(&from, 64, hipHostMallocDefault));
  HIP_OK(hipMalloc(&to, 64));
  HIP_OK(hipMemcpy(to, from, 64, hipMemcpyHostToDevice));
  HIP_OK(hipFree(to));
  HIP_OK(hipHostFree(from));
}

static void ask_for_too_much(void) {
  void* p = NULL;
  MUST(hipMalloc(&p, (size_t)1 << 45) == hipErrorOutOfMemory);
}

static void wait_for_line(void) {
  printf("waiting\n");
  fflush(stdout);
  for (int c = getchar(); c != '\n' && c != EOF;) c = getchar();
}

static void obey(const char* word) {
  char text[8] = "seven..";
  void* to = NULL;
  int n = 0;
  if (!strcmp(word, "alloc")) allocate();
  if (!strcmp(word, "free")) HIP_OK(hipFree(blocks[--held]));
  if (!strcmp(word, "refree")) MUST(hipFree(blocks[held]) != hipSuccess);
  if (!strcmp(word, "pin")) copy_from_pinned();
  if (!strcmp(word, "oom")) ask_for_too_much();
  if (!strncmp(word, "launch=", 7)) launch(strtol(word + 7, NULL, 10));
  if (!strcmp(word, "count")) HIP_OK(hipGetDeviceCount(&n));
  if (!strcmp(word, "fail")) MUST(hipSetDevice(99) != hipSuccess);
  if (!strcmp(word, "sync")) HIP_OK(hipDeviceSynchronize());
  if (!strcmp(word, "wait")) wait_for_line();
  if (strcmp(word, "copy")) return;
  HIP_OK(hipMalloc(&to, sizeof text));
  HIP_OK(hipMemcpy(to, text, sizeof text, hipMemcpyHostToDevice));
  HIP_OK(hipFree(to));
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "exec")) {
      argv[i] = argv[0];
      execv("/proc/self/exe", argv + i);
    }
    obey(argv[i]);
  }
  return 0;
}
