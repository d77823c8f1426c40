// Counts every call of every exported function, from outside ("external") and from the runtime itself ("nested").
// With FADE_STANDIN_COUNTS=PREFIX the counters live in the mapped file PREFIX.PID.N: one record of 128 bytes per
// function, text name first. N rises when the process execs or loads the library again. A forked child starts a file of
// its own with its first call.
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const struct standin_name __start_standin_names[], __stop_standin_names[];
extern HIDDEN const char __ehdr_start[], _end[];  // first and last byte of this library

struct record {
  char name[112];
  uint64_t external, nested;
};
enum { most_names = 1024 };

static struct record fallback[most_names];
static struct record* records = fallback;
static const char* prefix;
// Zero, then 1 while one thread opens the file, then 2. The page is wiped in a forked child, however it was forked.
static int* state;

static size_t names(void) { return (size_t)(__stop_standin_names - __start_standin_names); }

static int create_file(void) {
  char path[4096];
  for (int n = 0; n < 10000; ++n) {
    snprintf(path, sizeof path, "%s.%d.%d", prefix, (int)getpid(), n);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || access(path, F_OK) != 0) return fd;
  }
  return -1;
}

static void map_file(void) {
  const size_t bytes = names() * sizeof(struct record);
  const int fd = create_file();
  void* at = records == fallback ? NULL : records;  // a child takes the address of its parent's file
  void* map = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
    map = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
  if (fd >= 0) close(fd);
  if (map == MAP_FAILED) {
    if (at) mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return;
  }
  struct record* fresh = map;
  for (size_t i = 0; i < names(); ++i) strncpy(fresh[i].name, __start_standin_names[i].text, sizeof fresh[i].name - 1);
  records = fresh;
}

static void open_counters(void) {
  int idle = 0;
  if (__atomic_compare_exchange_n(state, &idle, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    map_file();
    __atomic_store_n(state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != 2) sched_yield();
}

__attribute__((constructor)) static void start(void) {
  prefix = getenv("FADE_STANDIN_COUNTS");
  if (!prefix || names() > most_names) return;
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  madvise(page, 4096, MADV_WIPEONFORK);
  state = page;
  open_counters();
}

__attribute__((destructor)) static void stop(void) {
  if (getenv("FADE_STANDIN_PRINT")) {
    for (size_t i = 0; i < names(); ++i)
      if (records[i].external + records[i].nested)
        fprintf(stderr, "%s %llu\n", __start_standin_names[i].text,
                (unsigned long long)(records[i].external + records[i].nested));
  }
  // The mappings stay: another thread may still be inside a call, and the process is about to end or to unload us.
}

int standin_enter(const struct standin_name* name, void* caller) {
  if (state && __atomic_load_n(state, __ATOMIC_ACQUIRE) != 2) open_counters();
  struct record* r = &records[name - __start_standin_names];
  const int nested = (const char*)caller >= __ehdr_start && (const char*)caller < _end;
  __atomic_fetch_add(nested ? &r->nested : &r->external, 1, __ATOMIC_RELAXED);
  return standin_rules ? standin_apply_rules(name->text) : 0;
}

// For entries too short to count themselves: the caller says how often it called them.
__attribute__((visibility("default"))) void fade_standin_add(const char* name, uint64_t calls) {
  for (size_t i = 0; i < names(); ++i)
    if (!strcmp(__start_standin_names[i].text, name)) __atomic_fetch_add(&records[i].external, calls, __ATOMIC_RELAXED);
}
