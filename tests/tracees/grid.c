// A program whose grid follows what it is told about the device: grid [fixed|status N|time|echo]. "fixed": one that
// does not ask. "status": ends with N where it was told of more than 36 multiprocessors. "time": prints something else
// in every run. "echo": prints its standard input.
#include <time.h>

#include "tracee.h"

extern const void* const scale_handle __asm__("_Z5scalePf");
const void* const scale_handle = "scale";

static unsigned multiprocessors(void) {
  hipDeviceProp_t prop;
  HIP_OK(hipGetDeviceProperties(&prop, 0));
  return (unsigned)prop.multiProcessorCount;
}

static void launch(unsigned blocks) {
  const dim3 grid = {blocks, 1, 1}, block = {64, 1, 1};
  for (int i = 0; i < 10; ++i) HIP_OK(hipLaunchKernel(&scale_handle, grid, block, NULL, 0, NULL));
  HIP_OK(hipDeviceSynchronize());
}

static void echo(void) {
  char line[100];
  while (fgets(line, sizeof line, stdin)) fputs(line, stdout);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  void** modules = __hipRegisterFatBinary("");
  __hipRegisterFunction(modules, &scale_handle, "_Z5scalePf", "_Z5scalePf", ~0u, NULL, NULL, NULL, NULL, NULL);
  const unsigned told = strcmp(how, "fixed") ? multiprocessors() : 36;
  launch(told);
  __hipUnregisterFatBinary(modules);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!strcmp(how, "time")) printf("at %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
  if (!strcmp(how, "echo")) echo();
  printf("done\n");
  return !strcmp(how, "status") && told > 36 ? number(argc, argv, 2, 1) : 0;
}
