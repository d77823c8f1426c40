// Threads are cancelled inside a call, which unwinds through it; the cleanup handler makes another call.
#include <pthread.h>

#include "tracee.h"

static pthread_barrier_t inside;
static int cleaned;

static void wait_for_ever(void* arg) {
  (void)arg;
  pthread_barrier_wait(&inside);
  for (;;) pause();
}

static void cleanup(void* arg) {
  (void)arg;
  HIP_OK(hipDeviceSynchronize());
  ++cleaned;
}

static void* work(void* arg) {
  pthread_cleanup_push(cleanup, NULL);
  hipLaunchHostFunc(NULL, wait_for_ever, arg);
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  pthread_barrier_init(&inside, NULL, 2);
  int cancelled = 0;
  for (int i = 0; i < 20; ++i) {
    pthread_t t;
    void* result = NULL;
    MUST(!pthread_create(&t, NULL, work, NULL));
    pthread_barrier_wait(&inside);
    pthread_cancel(t);
    pthread_join(t, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  some_calls(3);
  printf("cancelled %d cleaned %d\n", cancelled, cleaned);
}
