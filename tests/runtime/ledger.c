// What is allocated, as the runtime itself counts it. With FADE_STANDIN_MEMORY=FILE the figures are appended there at
// exit, a line for each device and kind of memory: PID DEVICE device|host|imported LIVE PEAK ALLOCS FREES, in bytes as
// they were asked for.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "standin.h"

enum { most_devices = 16 };
struct account {
  uint64_t live, peak, allocs, frees;
};
static struct account accounts[most_devices][standin_kinds];
static uint64_t used[most_devices];
static const char* const names[standin_kinds] = {"device", "host", "imported"};

uint64_t standin_used_bytes(int device) { return __atomic_load_n(&used[device], __ATOMIC_RELAXED); }

int standin_fits(int device, size_t bytes) {
  return bytes <= standin_device_bytes(device) - standin_used_bytes(device);
}

void standin_take(int device, int kind, size_t bytes, size_t asked) {
  struct account* a = &accounts[device][kind];
  __atomic_fetch_add(&used[device], kind == standin_of_device ? bytes : 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&a->allocs, 1, __ATOMIC_RELAXED);
  const uint64_t live = __atomic_add_fetch(&a->live, asked, __ATOMIC_RELAXED);
  uint64_t peak = __atomic_load_n(&a->peak, __ATOMIC_RELAXED);
  while (live > peak && !__atomic_compare_exchange_n(&a->peak, &peak, live, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

void standin_give(int device, int kind, size_t bytes, size_t asked) {
  __atomic_fetch_sub(&used[device], kind == standin_of_device ? bytes : 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&accounts[device][kind].frees, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&accounts[device][kind].live, asked, __ATOMIC_RELAXED);
}

hipError_t standin_out_of_memory(void) {
  size_t left, total;
  hipMemGetInfo(&left, &total);  // AMD's runtime asks itself before it gives up
  return standin_fail(hipErrorOutOfMemory);
}

__attribute__((destructor)) static void print(void) {
  const char* path = getenv("FADE_STANDIN_MEMORY");
  const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  for (int device = 0; fd >= 0 && device < most_devices; ++device)
    for (int kind = 0; kind < standin_kinds; ++kind) {
      const struct account* a = &accounts[device][kind];
      if (a->allocs)
        dprintf(fd, "%d %d %s %llu %llu %llu %llu\n", (int)getpid(), device, names[kind], (unsigned long long)a->live,
                (unsigned long long)a->peak, (unsigned long long)a->allocs, (unsigned long long)a->frees);
    }
  if (fd >= 0) close(fd);
}
