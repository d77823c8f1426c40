// Work of the runtime on a GPU, through HSA. Only with FADE_STANDIN_HSA=FILE: each work becomes a packet in a queue, or
// a copy by the copy engine. FADE_STANDIN_QUEUE is the number of places of a queue, 16384 as AMD's. Where queue
// profiling is forced, the runtime asks when it ran, as AMD's does: in the call that waits for it, or on a thread of
// its own. Then FILE gets a line for each work: thread, number of the thread's call with work, kind, name, stream,
// start, end, bytes. The times are in CLOCK_BOOTTIME. With AMD_DIRECT_DISPATCH=0 a thread of the runtime's own writes
// the packets, and a call waits only for a copy or for the null stream.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hsa.h"
#include "standin.h"

enum { queue_count = 4, signal_count = 64, most_objects = 512, barrier_every = 7, agent = 0x1000 };

static __typeof__(hsa_system_get_info)* system_info;
static __typeof__(hsa_queue_create)* create_queue;
static __typeof__(hsa_queue_destroy)* destroy_queue;
static __typeof__(hsa_queue_add_write_index_screlease)* add_write_index;
static __typeof__(hsa_signal_store_screlease)* ring;
static __typeof__(hsa_amd_memory_async_copy)* async_copy;
static __typeof__(hsa_amd_memory_async_copy_on_engine)* copy_on_engine;  // of newer releases; NULL: there is none
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

// Work that a call puts to run. The thread of the runtime's own has the last ones in turn.
struct job {
  const char *kind, *name;
  hipStream_t stream;
  size_t bytes;
  int waits;  // the runtime asks in the call when it ran
  int is_copy;
  void* to;
  const void* from;
  int tid;
  unsigned call;
  int* done;  // NULL: the call does not wait
};
enum { job_count = 64 };
static struct job jobs[job_count];
static unsigned jobs_first, jobs_end;
static int is_deferred, has_all_jobs;
static pthread_t worker;

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

// A signal that is asked about is free again.
static void ask_one(void) {
  pthread_mutex_lock(&lock);
  const int is_any = asked_first != asked_end;
  const struct asked about = asked[asked_first % signal_count];
  asked_first += is_any;
  pthread_mutex_unlock(&lock);
  if (is_any) ask(about);
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

static void* run_jobs(void* unused_argument);

#define FIND(variable, name) variable = (__typeof__(variable))dlsym(library, #name)
static int find_functions(void) {
  void* library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
  FIND(system_info, hsa_system_get_info);
  FIND(create_queue, hsa_queue_create);
  FIND(destroy_queue, hsa_queue_destroy);
  FIND(add_write_index, hsa_queue_add_write_index_screlease);
  FIND(ring, hsa_signal_store_screlease);
  FIND(async_copy, hsa_amd_memory_async_copy);
  FIND(copy_on_engine, hsa_amd_memory_async_copy_on_engine);
  FIND(dispatch_time, hsa_amd_profiling_get_dispatch_time);
  FIND(copy_time, hsa_amd_profiling_get_async_copy_time);
  FIND(symbol_by_name, hsa_executable_get_symbol_by_name);
  FIND(symbol_info, hsa_executable_symbol_get_info);
  return 1;
}

static void free_all_signals(void) {
  for (unused_count = 0; unused_count < signal_count; ++unused_count) unused[unused_count] = &signals[unused_count];
}

static void lock_for_fork(void) { pthread_mutex_lock(&lock); }
static void unlock_after_fork(void) { pthread_mutex_unlock(&lock); }

// A child of a fork has lines of its parent in the buffer: flushed there, they would stand in the file twice. It has no
// thread that asks and frees signals.
static void begin_child(void) {
  told = fopen("/dev/null", "w");
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  asked_first = asked_end;
  free_all_signals();
}

__attribute__((constructor)) static void begin_work(void) {
  const char *file = getenv("FADE_STANDIN_HSA"), *places = getenv("FADE_STANDIN_QUEUE");
  uint64_t frequency;
  if (!file || !find_functions()) return;
  is_profiled = is_set("GPU_FORCE_QUEUE_PROFILING") || is_set("HIP_FORCE_QUEUE_PROFILING");
  system_info(hsa_frequency, &frequency);
  for (int i = 0; i < queue_count; ++i) {
    pthread_mutex_init(&queues[i].lock, NULL);
    create_queue(agent, places ? (uint32_t)atoi(places) : 16384, &queues[i].queue);
  }
  free_all_signals();
  told = fopen(file, "w");
  pthread_atfork(lock_for_fork, unlock_after_fork, begin_child);
  pthread_create(&asker, NULL, ask_all, NULL);
  const char* direct = getenv("AMD_DIRECT_DISPATCH");
  is_deferred = direct && strcmp(direct, "0") == 0;
  if (is_deferred) pthread_create(&worker, NULL, run_jobs, NULL);
}

__attribute__((destructor)) static void end_work(void) {
  if (!told) return;
  pthread_mutex_lock(&lock);
  has_all_jobs = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (is_deferred) pthread_join(worker, NULL);
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(asker, NULL);
  for (int i = 0; i < queue_count; ++i) destroy_queue(queues[i].queue);
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
  if (index % 5 == 0) ask_one();
  struct hsa_packet* packet = (struct hsa_packet*)queue->base + index % queue->size;
  *packet = (struct hsa_packet){.header = hsa_invalid, .object = object, .signal = (uint64_t)signal};
  __atomic_store_n(&packet->header, type, __ATOMIC_RELEASE);
  ring(queue->doorbell, (int64_t)index);
}

static void tell(const struct job* job, const struct hsa_signal* done) {
  if (is_profiled)
    fprintf(told, "%d %u %s %s %llu %llu %llu %zu\n", job->tid, job->call, job->kind, job->name ? job->name : "-",
            (unsigned long long)(uintptr_t)job->stream, (unsigned long long)done->started,
            (unsigned long long)done->ended, job->bytes);
}

// Now and then a barrier comes first. Nobody asks when it ran.
static void put_packets(const struct job* job, struct hsa_signal* signal) {
  const int at = (int)((uintptr_t)job->stream / 8 % queue_count);
  struct hsa_signal* barrier = new_signal();
  pthread_mutex_lock(&queues[at].lock);
  if (++queues[at].packets % barrier_every == 0) put(at, hsa_barrier_and, 0, barrier);
  put(at, hsa_kernel_dispatch, object_of(job->name), signal);
  pthread_mutex_unlock(&queues[at].lock);
  free_signal(barrier);
}

static void run(const struct job* job) {
  struct hsa_signal* signal = new_signal();
  if (!job->is_copy) put_packets(job, signal);
  else if (copy_on_engine)
    copy_on_engine(job->to, agent, job->from, agent, job->bytes, 0, NULL, (uint64_t)signal, 1, true);
  else async_copy(job->to, agent, job->from, agent, job->bytes, 0, NULL, (uint64_t)signal);
  tell(job, signal);
  const struct asked about = {signal, job->is_copy};
  if (!is_profiled) free_signal(signal);
  else if (job->waits) ask(about);
  else ask_later(about);
}

static void* run_jobs(void* unused_argument) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (jobs_first == jobs_end && !has_all_jobs) pthread_cond_wait(&changed, &lock);
    const int ends = jobs_first == jobs_end;
    const struct job job = jobs[jobs_first % job_count];
    pthread_mutex_unlock(&lock);
    if (ends) return unused_argument;
    run(&job);
    pthread_mutex_lock(&lock);
    ++jobs_first;
    if (job.done) *job.done = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
}

static void put_to_run(struct job job) {
  int is_done = 0;
  job.tid = (int)syscall(SYS_gettid);
  job.call = calls;
  if (!is_deferred) return run(&job);
  const int must_wait = job.waits || job.is_copy;
  if (must_wait) job.done = &is_done;
  pthread_mutex_lock(&lock);
  while (jobs_end - jobs_first == job_count) pthread_cond_wait(&changed, &lock);
  jobs[jobs_end++ % job_count] = job;
  pthread_cond_broadcast(&changed);
  while (must_wait && !is_done) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void standin_ran_on(const char* name, hipStream_t stream) {
  if (told) put_to_run((struct job){.kind = "kernel", .name = name, .stream = stream});
}

void standin_filled(size_t bytes, hipStream_t stream) {
  standin_new_call();
  const char* const name = "__amd_rocclr_fillBufferAligned";
  if (told) put_to_run((struct job){.kind = "fill", .name = name, .stream = stream, .bytes = bytes, .waits = !stream});
}

// Half of the copies of the null stream are made by a kernel, as those of small sizes are.
void standin_copied(void* to, const void* from, size_t bytes, hipStream_t stream) {
  standin_new_call();
  struct job job = {.kind = "copy", .stream = stream, .bytes = bytes, .waits = !stream, .to = to, .from = from};
  if (!stream && calls % 2) job.name = "__amd_rocclr_copyBuffer";
  job.is_copy = !job.name;
  if (told) put_to_run(job);
}
