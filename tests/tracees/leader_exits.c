// The first thread ends long before the process does.
#include <pthread.h>

#include "tracee.h"

static pthread_t leader;

static void* work(void* arg) {
  pthread_join(leader, NULL);
  some_calls(50);
  printf("outlived the leader %d\n", (int)(intptr_t)arg);
  fflush(stdout);
  exit(3);
}

int main(void) {
  pthread_t worker;
  leader = pthread_self();
  some_calls(5);
  pthread_create(&worker, NULL, work, (void*)(intptr_t)1);
  pthread_exit(NULL);
}
