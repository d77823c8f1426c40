// Calls one HIP function again and again, from all threads at once: bench_calls FUNCTION CALLS [THREADS [WORK]]. CALLS
// is what all threads make together; between two calls a thread works for WORK ns.
#include <hip/hip_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char kernel_handle;
static pthread_barrier_t barrier;
static const struct function* chosen;
static long calls_per_thread, work_ns;

static hipError_t copy(void) {
  char from[8] = "seven..", to[8];
  return hipMemcpy(to, from, sizeof to, hipMemcpyHostToHost);
}
static hipError_t launch(void) {
  const dim3 grid = {64, 1, 1}, block = {256, 1, 1};
  return hipLaunchKernel(&kernel_handle, grid, block, NULL, 0, NULL);
}
static hipError_t count(void) {
  int devices;
  return hipGetDeviceCount(&devices);
}
static hipError_t peek(void) { return hipPeekAtLastError(); }

static const struct function {
  const char* name;
  hipError_t (*call)(void);
} functions[] = {
    {"hipMemcpy", copy}, {"hipLaunchKernel", launch}, {"hipGetDeviceCount", count}, {"hipPeekAtLastError", peek}};

static void compute(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < work_ns);
}

static void* work(void* unused) {
  (void)unused;
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < calls_per_thread; ++i) {
    if (work_ns) compute();
    if (chosen->call() != hipSuccess) {
      fprintf(stderr, "bench_calls: %s failed\n", chosen->name);
      exit(1);
    }
  }
  return NULL;
}

// What all threads have used, for a measurement that wants it.
static void say_cpu_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  if (getenv("BENCH_CPU")) printf("cpu %ld.%09ld\n", (long)used.tv_sec, used.tv_nsec);
}

int main(int argc, char** argv) {
  const long calls = argc > 2 ? atol(argv[2]) : 1000;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  work_ns = argc > 4 ? atol(argv[4]) : 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (argc > 1 && !strcmp(argv[1], functions[i].name)) chosen = &functions[i];
  if (!chosen || threads < 1 || threads > 100000) {
    fprintf(stderr, "usage: bench_calls FUNCTION CALLS [THREADS [WORK]]\n");
    return 2;
  }
  __hipRegisterFunction(__hipRegisterFatBinary(NULL), &kernel_handle, "kernel", "kernel", -1u, NULL, NULL, NULL, NULL,
                        NULL);
  calls_per_thread = calls / threads;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  if (threads == 1) {
    work(NULL);
    say_cpu_time();
    return 0;
  }
  pthread_t* started = calloc((size_t)threads, sizeof *started);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 18);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&started[i], &small, work, NULL)) {
      fprintf(stderr, "bench_calls: only %d threads could be started\n", i);
      return 1;
    }
  for (int i = 0; i < threads; ++i) pthread_join(started[i], NULL);
  free(started);
  say_cpu_time();
  return 0;
}
