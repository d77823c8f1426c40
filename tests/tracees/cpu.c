// Computes for a while, with a call now and then: cpu [ROUNDS].
#include "tracee.h"

int main(int argc, char** argv) {
  unsigned long long x = 88172645463325252ull, sum = 0;
  for (int round = 0; round < number(argc, argv, 1, 50); ++round) {
    for (int i = 0; i < 1000000; ++i) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      sum += x & 0xff;
    }
    HIP_OK(hipDeviceSynchronize());
  }
  printf("%llu\n", sum);
}
