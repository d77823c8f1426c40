// A stand-in for libhsa-runtime64. Its GPU works on a packet when the doorbell rings, and computes nothing. Work of a
// queue follows one another; how long it takes depends on its number alone. What the library exports are thunks
// (hsa_entries.S), as in AMD's: they hand on to these functions through a table.
#define HSA_BODY(name) standin_body_of_##name
#define hsa_system_get_info HSA_BODY(hsa_system_get_info)
#define hsa_queue_create HSA_BODY(hsa_queue_create)
#define hsa_queue_destroy HSA_BODY(hsa_queue_destroy)
#define hsa_queue_add_write_index_screlease HSA_BODY(hsa_queue_add_write_index_screlease)
#define hsa_signal_store_screlease HSA_BODY(hsa_signal_store_screlease)
#define hsa_amd_memory_async_copy HSA_BODY(hsa_amd_memory_async_copy)
#define hsa_amd_memory_async_copy_on_engine HSA_BODY(hsa_amd_memory_async_copy_on_engine)
#define hsa_amd_profiling_set_profiler_enabled HSA_BODY(hsa_amd_profiling_set_profiler_enabled)
#define hsa_amd_profiling_async_copy_enable HSA_BODY(hsa_amd_profiling_async_copy_enable)
#define hsa_amd_profiling_get_dispatch_time HSA_BODY(hsa_amd_profiling_get_dispatch_time)
#define hsa_amd_profiling_get_async_copy_time HSA_BODY(hsa_amd_profiling_get_async_copy_time)
#define hsa_executable_get_symbol_by_name HSA_BODY(hsa_executable_get_symbol_by_name)
#define hsa_executable_symbol_get_info HSA_BODY(hsa_executable_symbol_get_info)
#include "hsa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_symbols = 4096, least_ns = 1000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char* name;
  uint64_t object;
} symbols[most_symbols];
static uint64_t symbol_count, works;
static uint64_t free_from[64];  // of each queue, and of the copy engine (0): when its last work ended

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void work(uint64_t queue, struct hsa_signal* signal) {
  pthread_mutex_lock(&lock);
  const uint64_t earliest = now() + 500, took = least_ns + works++ * 37 % 5000;
  const uint64_t start = earliest > free_from[queue] ? earliest : free_from[queue];
  free_from[queue] = start + took;
  pthread_mutex_unlock(&lock);
  if (!signal) return;
  signal->started = start;
  signal->ended = start + took;
  __atomic_fetch_sub(&signal->value, 1, __ATOMIC_RELEASE);
}

int hsa_system_get_info(int attribute, uint64_t* value) {
  *value = attribute == hsa_frequency ? 1000000000u : now();
  return 0;
}

int hsa_queue_create(uint64_t agent, uint32_t size, struct hsa_queue** out) {
  static uint64_t last;
  (void)agent;
  struct hsa_queue* queue = calloc(1, sizeof *queue);
  *queue = (struct hsa_queue){.base = aligned_alloc(64, size * sizeof(struct hsa_packet)), .size = size};
  memset(queue->base, 0, size * sizeof(struct hsa_packet));
  queue->doorbell = (uint64_t)queue;
  queue->id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  *out = queue;
  return 0;
}

int hsa_queue_destroy(struct hsa_queue* queue) {
  memset(queue->base, 0xFF, queue->size * sizeof(struct hsa_packet));
  free(queue->base);
  memset(queue, 0, sizeof *queue);
  free(queue);
  return 0;
}

uint64_t hsa_queue_add_write_index_screlease(struct hsa_queue* queue, uint64_t value) {
  return __atomic_fetch_add(&queue->write_index, value, __ATOMIC_RELEASE);
}

void hsa_signal_store_screlease(uint64_t signal, int64_t value) {
  struct hsa_queue* queue = (struct hsa_queue*)signal;
  struct hsa_packet* packet = (struct hsa_packet*)queue->base + (uint64_t)value % queue->size;
  __atomic_store_n(&queue->read_index, (uint64_t)value + 1, __ATOMIC_RELEASE);
  work(queue->id, (struct hsa_signal*)packet->signal);
  __atomic_store_n(&packet->header, hsa_invalid, __ATOMIC_RELEASE);
}

int hsa_amd_memory_async_copy(void* to, uint64_t to_agent, const void* from, uint64_t from_agent, size_t bytes,
                              uint32_t n, const uint64_t* needs, uint64_t signal) {
  (void)to_agent, (void)from_agent, (void)n, (void)needs;
  memmove(to, from, bytes);
  work(0, (struct hsa_signal*)signal);
  return 0;
}

int hsa_amd_memory_async_copy_on_engine(void* to, uint64_t to_agent, const void* from, uint64_t from_agent,
                                        size_t bytes, uint32_t n, const uint64_t* needs, uint64_t signal, int engine,
                                        bool by_sdma) {
  return engine == 1 && by_sdma ? hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, n, needs, signal)
                                : 1;
}

int hsa_amd_profiling_set_profiler_enabled(struct hsa_queue* queue, int enable) {
  (void)queue, (void)enable;
  return 0;
}
int hsa_amd_profiling_async_copy_enable(int enable) {
  (void)enable;
  return 0;
}

static int times_of(uint64_t signal, uint64_t* times) {
  times[0] = ((struct hsa_signal*)signal)->started;
  times[1] = ((struct hsa_signal*)signal)->ended;
  return 0;
}
int hsa_amd_profiling_get_dispatch_time(uint64_t agent, uint64_t signal, uint64_t* times) {
  (void)agent;
  return times_of(signal, times);
}
int hsa_amd_profiling_get_async_copy_time(uint64_t signal, uint64_t* times) { return times_of(signal, times); }

int hsa_executable_get_symbol_by_name(uint64_t executable, const char* name, const uint64_t* agent, uint64_t* symbol) {
  (void)executable, (void)agent;
  pthread_mutex_lock(&lock);
  uint64_t i = 0;
  while (i < symbol_count && strcmp(symbols[i].name, name)) ++i;
  if (i == symbol_count && i < most_symbols) {
    symbols[i].name = strdup(name);
    symbols[i].object = (uint64_t)aligned_alloc(64, 64);
    ++symbol_count;
  }
  pthread_mutex_unlock(&lock);
  *symbol = i + 1;
  return i < most_symbols ? 0 : 1;
}

int hsa_executable_symbol_get_info(uint64_t symbol, int attribute, uint64_t* value) {
  if (attribute == hsa_kernel_object) *value = symbols[symbol - 1].object;
  else *(uint32_t*)value = 0;
  return 0;
}
