// bursts [CALLS [BURSTS [MS]]]: bursts of calls, with rests between them.
#include "tracee.h"

int main(int argc, char** argv) {
  const int calls = number(argc, argv, 1, 1000), bursts = number(argc, argv, 2, 3), rest = number(argc, argv, 3, 200);
  char memory[64];
  for (int burst = 0; burst < bursts; ++burst) {
    if (burst > 0) usleep((unsigned)rest * 1000);
    for (int i = 0; i < calls; ++i) HIP_OK(hipMemset(memory, 0, sizeof memory));
  }
  printf("done\n");
}
