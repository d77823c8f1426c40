// Copies floats between host and device, with NaN in chosen ones, and prints what it copied: direction, bytes, NaN,
// infinities. "sync ROUNDS", "async HOW" (stream, event, device, joined, null, none, reused), "threads N ROUNDS",
// "fork ROUNDS", "bytes" (data that are no floats), "others" (copies whose host's side is not looked at) and "large
// MIB". The device's memory of the stand-in is memory of the host: a kernel is a loop.
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

enum { most = 4096 };

static void tell(const char* direction, const float* values, int n) {
  int nan = 0, inf = 0;
  for (int i = 0; i < n; ++i) {
    nan += isnan(values[i]) != 0;
    inf += isinf(values[i]) != 0;
  }
  printf("%s %zu %d %d\n", direction, n * sizeof(float), nan, inf);
}

static void fill(float* values, int n, int seed) {
  for (int i = 0; i < n; ++i) values[i] = (float)((i * 37 + seed * 101) % 1000 - 500) / 77.0f;
}

// One round: up, a kernel, down. Each third kernel makes NaN, each fifth upload has some.
static void go_around(float* host, float* device, int n, int round, int says) {
  fill(host, n, round);
  if (round % 5 == 4) host[n / 2] = NAN;
  if (round % 7 == 6) host[1] = INFINITY;
  if (says) tell("h2d", host, n);
  HIP_OK(hipMemcpy(device, host, n * sizeof *host, hipMemcpyHostToDevice));
  if (round % 3 == 2)
    for (int i = 0; i < 3; ++i) device[i] = NAN;
  HIP_OK(hipMemcpy(host, device, n * sizeof *host, hipMemcpyDeviceToHost));
  if (says) tell("d2h", host, n);
}

static void sync_rounds(int rounds, int says) {
  float *host = malloc(most * sizeof *host), *device;
  HIP_OK(hipMalloc((void**)&device, most * sizeof *device));
  for (int i = 0; i < rounds; ++i) {
    go_around(host, device, most - i % 5, i, says);
    HIP_OK(hipDeviceSynchronize());
  }
  HIP_OK(hipFree(device));
  free(host);
}

static void* of_thread(void* rounds) {
  sync_rounds(*(int*)rounds, 0);
  return NULL;
}

static void threads(int n, int rounds) {
  pthread_t all[64];
  for (int i = 0; i < n; ++i) MUST(pthread_create(&all[i], NULL, of_thread, &rounds) == 0);
  for (int i = 0; i < n; ++i) MUST(pthread_join(all[i], NULL) == 0);
  printf("%d threads of %d rounds\n", n, rounds);
}

// The bytes of an asynchronous copy are there when the program has waited for them: a NaN comes late, and is gone soon.
static void async(const char* how) {
  enum { n = 256 };
  float *host, *device, one;
  hipStream_t stream = NULL, other;
  hipEvent_t event;
  HIP_OK(hipHostMalloc((void**)&host, n * sizeof *host, 0));
  HIP_OK(hipMalloc((void**)&device, n * sizeof *device));
  if (strcmp(how, "null") != 0) HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP_OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&event));
  fill(device, n, 1);
  HIP_OK(hipMemcpyAsync(host, device, n * sizeof *host, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipEventRecord(event, stream));
  HIP_OK(hipStreamWaitEvent(other, event, 0));
  host[7] = NAN;
  tell("d2h", host, n);
  if (!strcmp(how, "stream")) HIP_OK(hipStreamSynchronize(stream));
  if (!strcmp(how, "event")) HIP_OK(hipEventSynchronize(event));
  if (!strcmp(how, "device")) HIP_OK(hipDeviceSynchronize());
  if (!strcmp(how, "joined")) HIP_OK(hipStreamSynchronize(other));
  if (!strcmp(how, "null")) HIP_OK(hipMemcpy(&one, device, sizeof one, hipMemcpyDeviceToHost));
  if (!strcmp(how, "reused")) HIP_OK(hipMemcpyAsync(host, device, n * sizeof *host, hipMemcpyDeviceToHost, stream));
  host[7] = 0;
  HIP_OK(hipFree(device));
  HIP_OK(hipHostFree(host));
}

static void no_floats(void) {
  unsigned char bytes[8192];
  unsigned random = 1;
  void* device;
  HIP_OK(hipMalloc(&device, sizeof bytes));
  for (int kind = 0; kind < 4; ++kind) {
    for (size_t i = 0; i < sizeof bytes; ++i) {
      random = random * 1664525 + 1013904223;
      const unsigned char values[] = {random >> 24, "Lorem ipsum {|}~"[random >> 28], random >> 26, 255};
      bytes[i] = values[kind];
    }
    HIP_OK(hipMemcpy(device, bytes, sizeof bytes, hipMemcpyHostToDevice));
  }
  puts("4 copies of bytes");
}

static void others(void) {
  float host[64], *device;
  hipStream_t stream;
  hipGraph_t graph;
  fill(host, 64, 1);
  host[0] = NAN;
  HIP_OK(hipMalloc((void**)&device, sizeof host));
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipMemcpy(device, host, sizeof host, hipMemcpyDefault));
  HIP_OK(hipMemcpy(device, device, sizeof host, hipMemcpyDeviceToDevice));
  HIP_OK(hipMemcpy(host, host, sizeof host, hipMemcpyHostToHost));
  HIP_OK(hipStreamBeginCapture(stream, 0));
  HIP_OK(hipMemcpyAsync(device, host, sizeof host, hipMemcpyHostToDevice, stream));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipMemcpyAsync(device, host, sizeof host, hipMemcpyHostToDevice, stream));
  HIP_OK(hipMemcpyWithStream(host, device, sizeof host, hipMemcpyDeviceToHost, stream));
  puts("copies that are not looked at, and two that are");
}

static void large(size_t mib) {
  const size_t n = (mib << 20) / sizeof(float);
  float *host = malloc(n * sizeof *host), *device;
  MUST(host);
  HIP_OK(hipMalloc((void**)&device, n * sizeof *device));
  for (size_t i = 0; i < n; ++i) host[i] = (float)(i % 1000) / 7.0f + 0.01f;
  HIP_OK(hipMemcpy(device, host, n * sizeof *host, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(host, device, n * sizeof *host, hipMemcpyDeviceToHost));
  printf("twice %zu bytes\n", n * sizeof *host);
  HIP_OK(hipFree(device));
  free(host);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "sync";
  const int n = number(argc, argv, 2, 10);
  if (!strcmp(how, "sync")) sync_rounds(n, 1);
  if (!strcmp(how, "threads")) threads(n, number(argc, argv, 3, 20));
  if (!strcmp(how, "async")) async(argc > 2 ? argv[2] : "stream");
  if (!strcmp(how, "bytes")) no_floats();
  if (!strcmp(how, "others")) others();
  if (!strcmp(how, "large")) large((size_t)n);
  if (!strcmp(how, "fork")) {
    sync_rounds(n, 1);
    fflush(stdout);
    const pid_t child = fork();
    MUST(child >= 0);
    sync_rounds(n, child != 0);
    if (child == 0) _exit(0);
    int status = 0;
    MUST(waitpid(child, &status, 0) == child);
    printf("child %d\n", WEXITSTATUS(status));
  }
  return 0;
}
