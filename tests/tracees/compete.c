// compete [THREADS] [CALLS]: each of them calls as often as it can, until all of them together have made so many calls.
#include <pthread.h>
#include <stdatomic.h>

#include "tracee.h"

static pthread_barrier_t barrier;
static atomic_long left;

static void* work(void* arg) {
  (void)arg;
  pthread_barrier_wait(&barrier);
  while (atomic_fetch_sub(&left, 1) > 0) {
    char from[8] = "", to[8];
    MUST(hipMemcpy(to, from, sizeof to, hipMemcpyHostToHost) == hipSuccess);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int count = number(argc, argv, 1, 6);
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  left = number(argc, argv, 2, 6000);
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  for (int i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], NULL, work, NULL));
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("%d threads\n", count);
}
