// A program that looks at every result, as PyTorch does: what it does when calls fail, are slow, or get other values.
// Its output tells what it was told.
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "tracee.h"

static __attribute__((noinline)) hipError_t allocate(void** at, size_t bytes) {
  *at = (void*)0x1234;  // a runtime that fails clears it
  return hipMalloc(at, bytes);
}

// Allocations of growing size. After each: the result, the pointer, and the last error, twice.
static void allocations(int n) {
  for (int i = 1; i <= n; ++i) {
    void* p;
    const hipError_t error = allocate(&p, 4096 * (size_t)i);
    const hipError_t peek = hipPeekAtLastError(), last = hipGetLastError(), again = hipGetLastError();
    printf("%d: %d %s, peek %d, last %d, again %d\n", i, error, p ? "memory" : "null", peek, last, again);
    if (error == hipSuccess) HIP_OK(hipFree(p));
  }
}

// Launches, whose errors the compiler's stub throws away.
static void launches(int n) {
  static int kernel;
  void** modules = __hipRegisterFatBinary("");
  __hipRegisterFunction(modules, &kernel, "_Z5scalePf", "_Z5scalePf", ~0u, NULL, NULL, NULL, NULL, NULL);
  for (int i = 1; i <= n; ++i) {
    (void)hipLaunchKernel(&kernel, (dim3){(unsigned)i, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL);
    printf("%d: %d\n", i, hipGetLastError());
  }
}

// An allocator with a cache: frees what it holds when memory is short, and tries once more.
static int training(int steps) {
  void* cache[4] = {0};
  for (int step = 1; step <= steps; ++step) {
    void* p = NULL;
    hipError_t error = hipMalloc(&p, 1 << 20);
    if (error == hipErrorOutOfMemory) {
      (void)hipGetLastError();
      printf("step %d: out of memory, the cache is freed\n", step);
      for (int i = 0; i < 4; ++i) {
        if (cache[i]) HIP_OK(hipFree(cache[i]));
        cache[i] = NULL;
      }
      error = hipMalloc(&p, 1 << 20);
    }
    if (error == hipSuccess) error = hipMemset(p, 0, 64);
    if (error == hipSuccess) error = hipDeviceSynchronize();
    if (error != hipSuccess) {
      printf("step %d: %s\n", step, hipGetErrorName(error));
      return 1;
    }
    if (cache[step % 4]) HIP_OK(hipFree(cache[step % 4]));
    cache[step % 4] = p;
  }
  printf("trained\n");
  return 0;
}

static int rounds, failed;
static void* thread(void* unused) {
  for (int i = 0; i < rounds; ++i) {
    void* p = NULL;
    if (hipMalloc(&p, 4096) != hipSuccess) __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    else HIP_OK(hipFree(p));
  }
  return unused;
}

static void threads(int n) {
  pthread_t all[64];
  for (int i = 0; i < n; ++i) MUST(pthread_create(&all[i], NULL, thread, NULL) == 0);
  for (int i = 0; i < n; ++i) pthread_join(all[i], NULL);
  printf("%d of %d failed\n", failed, n * rounds);
}

static void forked(int n) {
  for (int child = 0; child < 2; ++child) {
    fflush(stdout);
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
      allocations(n);
      fflush(stdout);
      _exit(0);
    }
    MUST(waitpid(pid, NULL, 0) == pid);
  }
  allocations(n);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// How long calls take, and what another thread did meanwhile.
static int stop;
static void* beside(void* calls) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    int device;
    (void)hipGetDeviceCount(&device);
    ++*(long*)calls;
  }
  return NULL;
}

static void slow(int n) {
  long calls = 0;
  pthread_t other;
  MUST(pthread_create(&other, NULL, beside, &calls) == 0);
  void* p = NULL;
  const double began = seconds();
  for (int i = 0; i < n; ++i) {
    HIP_OK(hipMalloc(&p, 4096));
    HIP_OK(hipFree(p));
  }
  const double took = seconds() - began;
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(other, NULL);
  printf("%.3f s, %s\n", took, calls > 0 ? "another thread called meanwhile" : "nothing else ran");
}

// What the runtime says about its devices and their memory, and how much can be had.
static void devices(void) {
  int n = -1, device = -1;
  const hipError_t counted = hipGetDeviceCount(&n);
  printf("count %d (%d)\n", n, counted);
  for (int i = 0; i < 3; ++i) {
    const hipError_t set = hipSetDevice(i);
    size_t left = 0, total = 0;
    if (set == hipSuccess) HIP_OK(hipMemGetInfo(&left, &total));
    if (set == hipSuccess) HIP_OK(hipGetDevice(&device));
    printf("device %d: %d, current %d, %zu of %zu MiB\n", i, set, device, left >> 20, total >> 20);
  }
}

static void fill(size_t step) {
  HIP_OK(hipSetDevice(0));
  size_t got = 0;
  void* p[64] = {0};
  int n = 0;
  hipError_t error = hipSuccess;
  for (; n < 64; ++n, got += step)
    if ((error = hipMalloc(&p[n], step)) != hipSuccess) break;
  size_t left = 0, total = 0;
  HIP_OK(hipMemGetInfo(&left, &total));
  printf("got %zu MiB, then %d; %zu of %zu MiB are free\n", got >> 20, error, left >> 20, total >> 20);
  for (int i = 0; i < n; ++i) HIP_OK(hipFree(p[i]));
  HIP_OK(hipMalloc(&p[0], step));
  HIP_OK(hipFree(p[0]));
}

// Arguments in vector registers.
static void floats(void) {
  float texture[3] = {0}, bias = 0;
  HIP_OK(hipTexRefSetMipmapLevelBias((textureReference*)&texture, 1.5f));
  HIP_OK(hipTexRefGetMipmapLevelBias(&bias, (textureReference*)&texture));
  const hipError_t clamped = hipTexRefSetMipmapLevelClamp((textureReference*)&texture, 0.25f, 8.0f);
  printf("bias %g, clamp %d from %g to %g\n", (double)bias, clamped, (double)texture[1], (double)texture[2]);
}

// The place for the result is in a page that may not be written.
static void read_only(void) {
  void** page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(page != MAP_FAILED);
  *page = page;
  MUST(mprotect(page, 4096, PROT_READ) == 0);
  const hipError_t error = hipMalloc(page, 4096);
  printf("%d, %s\n", error, *page == page ? "unchanged" : "changed");
}

static int input_has_ended(void) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  char ignored[64];
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
}

// Until its input ends. A call succeeds as a whole, or fails as a whole; registers that a call must keep are kept.
static void endless(void) {
  printf("ready\n");
  fflush(stdout);
  long done = 0, failed_calls = 0;
  while (!input_has_ended()) {
    void* p;
    const hipError_t error = allocate(&p, 4096);
    MUST(error == hipSuccess ? p != NULL : error == hipErrorOutOfMemory && p == NULL);
    if (p) HIP_OK(hipFree(p));
    failed_calls += error != hipSuccess;
    ++done;
  }
  printf("done %s\n", done > 0 && failed_calls < done ? "well" : "badly");
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "allocations";
  const int n = number(argc, argv, 2, 5);
  rounds = number(argc, argv, 3, 100);
  if (!strcmp(what, "allocations")) allocations(n);
  else if (!strcmp(what, "launches")) launches(n);
  else if (!strcmp(what, "training")) return training(n);
  else if (!strcmp(what, "threads")) threads(n);
  else if (!strcmp(what, "forked")) forked(n);
  else if (!strcmp(what, "slow")) slow(n);
  else if (!strcmp(what, "devices")) devices();
  else if (!strcmp(what, "fill")) fill((size_t)n << 20);
  else if (!strcmp(what, "floats")) floats();
  else if (!strcmp(what, "read_only")) read_only();
  else if (!strcmp(what, "endless")) endless();
  else return 98;
  return 0;
}
