// A thread ends the process while the others are inside calls. Their number of calls differs from run to run.
#include <pthread.h>

#include "tracee.h"

static void* busy(void* arg) {
  for (;;) hipDeviceSynchronize();
  return arg;
}

static void* last(void* arg) {
  some_calls(20);
  printf("leaving\n");
  exit(5);
  return arg;
}

int main(void) {
  pthread_t t;
  for (int i = 0; i < 4; ++i) pthread_create(&t, NULL, busy, NULL);
  pthread_create(&t, NULL, last, NULL);
  pthread_join(t, NULL);
}
