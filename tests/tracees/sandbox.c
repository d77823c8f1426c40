// Forbids itself mmap on pain of death, then calls HIP for the first time.
#include "seccomp.h"

int main(void) {
  int count = 0;
  forbid(SYS_mmap, 0);
  for (int i = 0; i < 3; ++i) HIP_OK(hipGetDeviceCount(&count));
  if (write(STDOUT_FILENO, "alive\n", 6) != 6) return 1;
  _exit(count == 2 ? 0 : 1);
}
