// For --actions: allocations of growing sizes, one that fails, a copy whose bytes are known, and signals that are
// counted. Prints what it has seen.
#include <signal.h>

#include "tracee.h"

static volatile sig_atomic_t heard;
static void hear(int signal) {
  (void)signal;
  ++heard;
}

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 5);
  struct sigaction action = {.sa_handler = hear, .sa_flags = SA_RESTART};
  MUST(sigaction(SIGUSR1, &action, NULL) == 0);
  char text[64] = "the bytes of a copy";
  for (int i = 0; i < rounds; ++i) {
    void* p = NULL;
    HIP_OK(hipMalloc(&p, (size_t)1000 * (i + 1)));
    HIP_OK(hipMemcpy(p, text, sizeof text, hipMemcpyHostToDevice));
    HIP_OK(hipFree(p));
    HIP_OK(hipDeviceSynchronize());
  }
  void* p = NULL;
  MUST(hipFree((void*)0x10) != hipSuccess);
  HIP_OK(hipMalloc(&p, 77));
  printf("%d rounds, %d signals\n", rounds, (int)heard);
  return 0;
}
