// paced CALLS US: calls from one thread, so many microseconds of work apart.
#include <time.h>

#include "tracee.h"

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int argc, char** argv) {
  const long calls = number(argc, argv, 1, 1000), apart = number(argc, argv, 2, 20);
  for (long n = 0; n < calls; ++n) {
    const long long next = now_us() + apart;
    int device = 0;
    HIP_OK(hipGetDevice(&device));
    while (now_us() < next) {}
  }
  printf("done\n");
}
