// share THREADS SECONDS [rare]: all threads call in a tight loop for so long; prints how often each of them did.
// share THREADS 0 CALLS: until they have made so many calls together. With `rare` one more thread calls every 5 ms.
// Its line has its calls, and how long after its time a call was done, in nanoseconds: median, 95 %, longest.
#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "tracee.h"

enum { kMostRare = 20000, kPause = 5000000 };  // ns
static struct { _Alignas(64) long calls; } made[4096];
static pthread_barrier_t barrier;
static volatile int over;
static long left;  // of the calls, where they are counted
static long long waited[kMostRare];
static int rare_calls;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void* call(void* index) {
  char memory[64];
  pthread_barrier_wait(&barrier);
  for (long i = (long)index; !over && __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) > 0; ++made[i].calls)
    HIP_OK(hipMemset(memory, 0, sizeof memory));
  return NULL;
}

static void* call_seldom(void* unused) {
  char memory[64];
  pthread_barrier_wait(&barrier);
  while (!over && rare_calls < kMostRare) {
    const long long due = now() + kPause;
    const struct timespec at = {due / 1000000000, due % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    HIP_OK(hipMemset(memory, 0, sizeof memory));
    waited[rare_calls++] = now() - due;
  }
  return unused;
}

static int is_longer(const void* one, const void* other) {
  const long long a = *(const long long*)one, b = *(const long long*)other;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  const int count = number(argc, argv, 1, 8), seconds = number(argc, argv, 2, 1), rare = seconds > 0 && argc > 3;
  pthread_t threads[4097];
  pthread_attr_t small;
  MUST(count > 0 && count <= 4096);
  left = seconds > 0 ? LONG_MAX : number(argc, argv, 3, 1000);
  pthread_barrier_init(&barrier, NULL, (unsigned)(count + rare + 1));
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 18);
  if (rare) MUST(!pthread_create(&threads[count], &small, call_seldom, NULL));
  for (long i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], &small, call, (void*)i));
  pthread_barrier_wait(&barrier);
  sleep((unsigned)seconds);
  over = seconds > 0;
  for (int i = 0; i < count + rare; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < count; ++i) printf("%ld\n", made[i].calls);
  if (!rare || rare_calls == 0) return 0;
  qsort(waited, (size_t)rare_calls, sizeof *waited, is_longer);
  const long long median = waited[rare_calls / 2], most = waited[rare_calls * 95 / 100];
  printf("rare %d %lld %lld %lld\n", rare_calls, median, most, waited[rare_calls - 1]);
}
