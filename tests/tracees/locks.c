// Other threads wait for what the calling thread holds: no supervisor may take a lock of the program. locks [ROUNDS]
#include <pthread.h>

#include "tracee.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total, rounds;

static void locked(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  ++total;
  hipDeviceSynchronize();
  pthread_mutex_unlock(&mutex);
}

static void* work(void* arg) {
  for (int i = 0; i < rounds; ++i) HIP_OK(hipLaunchHostFunc(NULL, locked, arg));
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t t[6];
  rounds = number(argc, argv, 1, 50);
  for (int i = 0; i < 6; ++i) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 6; ++i) pthread_join(t[i], NULL);
  printf("total %d\n", total);
}
