// Work of the runtime on a GPU, through HSA. Only with FADE_STANDIN_HSA=FILE: each work becomes a packet in a queue, or
// a copy by the copy engine. Where queue profiling is forced, the runtime asks when it ran, as AMD's does: in the call
// that waits for it, or on a thread of its own. Then FILE gets a line for each work: thread, number of the thread's
// call with work, kind, name, stream, start, end, bytes. The times are in CLOCK_BOOTTIME.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hsa.h"
#include "standin.h"

enum { queue_count = 4, queue_size = 256, signal_count = 64, most_objects = 512, barrier_every = 7, agent = 0x1000 };

static __typeof__(hsa_system_get_info)* system_info;
static __typeof__(hsa_queue_create)* create_queue;
static __typeof__(hsa_queue_add_write_index_screlease)* add_write_index;
static __typeof__(hsa_signal_store_screlease)* ring;
static __typeof__(hsa_amd_memory_async_copy)* async_copy;
static __typeof__(hsa_amd_profiling_get_dispatch_time)* dispatch_time;
static __typeof__(hsa_amd_profiling_get_async_copy_time)* copy_time;
static __typeof__(hsa_executable_get_symbol_by_name)* symbol_by_name;
static __typeof__(hsa_executable_symbol_get_info)* symbol_info;

static FILE* told;  // NULL: there is no GPU
static int is_profiled;
static struct {
  pthread_mutex_t lock;
  struct hsa_queue* queue;
  unsigned packets;
} queues[queue_count];
static struct {
  char* name;
  uint64_t object;
} objects[most_objects];
static int object_count;

// Signals that are free, and signals whose times the thread has yet to ask for, in order.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct hsa_signal signals[signal_count];
static struct asked {
  struct hsa_signal* signal;
  int is_copy;
} asked[signal_count];
static struct hsa_signal* unused[signal_count];
static unsigned asked_first, asked_end, unused_count;
static int is_over;
static pthread_t asker;

static __thread unsigned calls;
void standin_new_call(void) { ++calls; }

static void free_signal(struct hsa_signal* signal) {
  pthread_mutex_lock(&lock);
  memmove(unused + 1, unused, unused_count * sizeof *unused);
  unused[0] = signal;
  ++unused_count;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static struct hsa_signal* new_signal(void) {
  pthread_mutex_lock(&lock);
  while (!unused_count) pthread_cond_wait(&changed, &lock);
  struct hsa_signal* signal = unused[--unused_count];
  pthread_mutex_unlock(&lock);
  signal->value = 1;
  return signal;
}

static void ask(struct asked about) {
  uint64_t times[2];
  if (about.is_copy) copy_time((uint64_t)about.signal, times);
  else dispatch_time(agent, (uint64_t)about.signal, times);
  free_signal(about.signal);
}

static void* ask_all(void* unused_argument) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (asked_first == asked_end && !is_over) pthread_cond_wait(&changed, &lock);
    const int ends = asked_first == asked_end;
    const struct asked about = asked[asked_first % signal_count];
    asked_first += !ends;
    pthread_mutex_unlock(&lock);
    if (ends) return unused_argument;
    ask(about);
  }
}

static void ask_later(struct asked about) {
  pthread_mutex_lock(&lock);
  asked[asked_end++ % signal_count] = about;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static int is_set(const char* name) {
  const char* value = getenv(name);
  return value && strcmp(value, "0") != 0;
}

#define FIND(variable, name) variable = (__typeof__(variable))dlsym(library, #name)
static int find_functions(void) {
  void* library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
  FIND(system_info, hsa_system_get_info);
  FIND(create_queue, hsa_queue_create);
  FIND(add_write_index, hsa_queue_add_write_index_screlease);
  FIND(ring, hsa_signal_store_screlease);
  FIND(async_copy, hsa_amd_memory_async_copy);
  FIND(dispatch_time, hsa_amd_profiling_get_dispatch_time);
  FIND(copy_time, hsa_amd_profiling_get_async_copy_time);
  FIND(symbol_by_name, hsa_executable_get_symbol_by_name);
  FIND(symbol_info, hsa_executable_symbol_get_info);
  return 1;
}

__attribute__((constructor)) static void begin_work(void) {
  const char* file = getenv("FADE_STANDIN_HSA");
  uint64_t frequency;
  if (!file || !find_functions()) return;
  is_profiled = is_set("GPU_FORCE_QUEUE_PROFILING") || is_set("HIP_FORCE_QUEUE_PROFILING");
  system_info(hsa_frequency, &frequency);
  for (int i = 0; i < queue_count; ++i) {
    pthread_mutex_init(&queues[i].lock, NULL);
    create_queue(agent, queue_size, &queues[i].queue);
  }
  for (int i = 0; i < signal_count; ++i) unused[unused_count++] = &signals[i];
  told = fopen(file, "w");
  pthread_create(&asker, NULL, ask_all, NULL);
}

__attribute__((destructor)) static void end_work(void) {
  if (!told) return;
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(asker, NULL);
  fclose(told);
}

// The caller has the lock of a queue; kernels become known under a lock of their own.
static uint64_t object_of(const char* name) {
  static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;
  char symbol_name[512];
  uint64_t symbol, to = agent;
  pthread_mutex_lock(&objects_lock);
  int i = 0;
  while (i < object_count && strcmp(objects[i].name, name)) ++i;
  if (i == object_count && i < most_objects) {
    snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
    symbol_by_name(1, symbol_name, &to, &symbol);
    symbol_info(symbol, hsa_kernel_object, &objects[i].object);
    objects[object_count++].name = strdup(name);
  }
  pthread_mutex_unlock(&objects_lock);
  return i < most_objects ? objects[i].object : 0;
}

static void put(int at, uint16_t type, uint64_t object, struct hsa_signal* signal) {
  struct hsa_queue* queue = queues[at].queue;
  const uint64_t index = add_write_index(queue, 1);
  struct hsa_packet* packet = (struct hsa_packet*)queue->base + index % queue->size;
  *packet = (struct hsa_packet){.header = hsa_invalid, .object = object, .signal = (uint64_t)signal};
  __atomic_store_n(&packet->header, type, __ATOMIC_RELEASE);
  ring(queue->doorbell, (int64_t)index);
}

static void tell(const char* kind, const char* name, hipStream_t stream, const struct hsa_signal* done, size_t bytes) {
  if (is_profiled)
    fprintf(told, "%d %u %s %s %llu %llu %llu %zu\n", (int)syscall(SYS_gettid), calls, kind, name,
            (unsigned long long)(uintptr_t)stream, (unsigned long long)done->started, (unsigned long long)done->ended,
            bytes);
}

// Now and then a barrier comes first. Nobody asks when it ran.
static void run_packet(const char* kind, const char* name, hipStream_t stream, size_t bytes, int waits) {
  const int at = (int)((uintptr_t)stream / 8 % queue_count);
  struct hsa_signal *signal = new_signal(), *barrier = new_signal();
  pthread_mutex_lock(&queues[at].lock);
  if (++queues[at].packets % barrier_every == 0) put(at, hsa_barrier_and, 0, barrier);
  put(at, hsa_kernel_dispatch, object_of(name), signal);
  pthread_mutex_unlock(&queues[at].lock);
  free_signal(barrier);
  tell(kind, name, stream, signal, bytes);
  const struct asked about = {signal, 0};
  if (!is_profiled) free_signal(signal);
  else if (waits) ask(about);
  else ask_later(about);
}

void standin_ran_on(const char* name, hipStream_t stream) {
  if (told) run_packet("kernel", name, stream, 0, 0);
}

void standin_filled(size_t bytes, hipStream_t stream) {
  standin_new_call();
  if (told) run_packet("fill", "__amd_rocclr_fillBufferAligned", stream, bytes, !stream);
}

// Half of the copies of the null stream are made by a kernel, as those of small sizes are.
void standin_copied(void* to, const void* from, size_t bytes, hipStream_t stream) {
  standin_new_call();
  if (!told) return;
  if (!stream && calls % 2) return run_packet("copy", "__amd_rocclr_copyBuffer", stream, bytes, 1);
  struct hsa_signal* signal = new_signal();
  async_copy(to, agent, from, agent, bytes, 0, NULL, (uint64_t)signal);
  tell("copy", "-", stream, signal, bytes);
  const struct asked about = {signal, 1};
  if (!is_profiled) free_signal(signal);
  else if (!stream) ask(about);
  else ask_later(about);
}
