// threads [THREADS] [ROUNDS] [together]: all of them call at once; together: they begin each round at once.
#include <pthread.h>

#include "tracee.h"

static pthread_barrier_t barrier;
static int rounds, together;

static void* work(void* arg) {
  (void)arg;
  for (int i = 0; i < (together ? rounds : 1); ++i) {
    pthread_barrier_wait(&barrier);
    some_calls(together ? 1 : rounds);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int count = number(argc, argv, 1, 8);
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t small;
  rounds = number(argc, argv, 2, 50);
  together = argc > 3;
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 18);
  for (int i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], &small, work, NULL));
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("%d threads\n", count);
}
