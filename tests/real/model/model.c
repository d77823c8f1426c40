/* A GPU that runs no kernels: the "model" that ROCm 7.2's libhsakmt loads in place of /dev/kfd (HSA_MODEL_LIB).
 *
 * Owns one thread per queue, which consumes AQL packets in order, waits for barriers' dependencies and completes
 * signals. Knows nothing of code objects: a dispatched kernel "finishes" at once and computes nothing. That is enough
 * for AMD's real runtime to give its real answers: devices, memory, compilation, modules, launches, errors. With
 * HSA_MODEL_TIMES=FILE each packet that has a signal adds a line to FILE: its type, its kernel's object or 0, its
 * signal, its begin and end. */
#define _GNU_SOURCE
#include "model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { packet_bytes = 64, queue_type_aql = 2 };

enum packet_type {
  packet_vendor = 0,
  packet_invalid = 1,
  packet_kernel = 2,
  packet_barrier_and = 3,
  packet_barrier_or = 5
};

/* The 64 bytes of an AQL packet, as far as every type agrees on them. */
struct packet {
  _Atomic uint16_t header; /* the low byte is the type; written last by the producer */
  uint16_t setup;
  uint32_t reserved;
  uint64_t dependencies[5]; /* barriers only */
  uint64_t unused;
  uint64_t completion; /* address of a struct signal, or 0 */
};

/* The head of the runtime's signal object; its address is what packets name. */
struct signal {
  int64_t kind;
  _Atomic int64_t value;
  uint64_t mailbox; /* where the event id is stored before the event is set; 0: nobody sleeps on this signal */
  uint32_t event_id;
  uint32_t unused;
  uint64_t started, ended; /* when the packet was worked on; the runtime warns about zeros */
};

_Static_assert(sizeof(struct packet) == packet_bytes, "an AQL packet has 64 bytes");
_Static_assert(offsetof(struct packet, completion) == 56, "the completion signal is the last word");
_Static_assert(offsetof(struct signal, event_id) == 24 && offsetof(struct signal, ended) == 40, "signal layout");

static FILE* times;

struct hsakmt_model {
  char* aperture; /* GPU address 0 */
  hsakmt_model_set_event_fn set_event;
  void* set_event_data;
};

struct hsakmt_model_queue {
  struct hsakmt_model* gpu;
  struct packet* ring;
  uint64_t slots;
  _Atomic uint64_t* write_index;
  _Atomic uint64_t* read_index;
  atomic_bool stop;
  pthread_t worker;
};

/* Work arrives without any interrupt, so an idle queue looks again after a while: short right after work, long later.
 */
static void rest(unsigned idle_rounds) {
  const long micro = idle_rounds < 200 ? 20 : 500;
  const struct timespec pause = {0, micro * 1000};
  nanosleep(&pause, NULL);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct signal* signal_at(const struct hsakmt_model* gpu, uint64_t address) {
  return address ? (struct signal*)(gpu->aperture + address) : NULL;
}

static int is_done(const struct signal* signal) { return !signal || atomic_load(&signal->value) == 0; }

static int barrier_open(const struct hsakmt_model_queue* queue, const struct packet* packet, int any) {
  int named = 0, done = 0;
  for (int i = 0; i < 5; i++) {
    const struct signal* signal = signal_at(queue->gpu, packet->dependencies[i]);
    named += signal != NULL;
    done += signal != NULL && is_done(signal);
  }
  return any ? named == 0 || done > 0 : done == named;
}

static void tell(unsigned type, uint64_t object, uint64_t address, const struct signal* signal) {
  if (times)
    fprintf(times, "%u %llu %llu %llu %llu\n", type, (unsigned long long)object, (unsigned long long)address,
            (unsigned long long)signal->started, (unsigned long long)signal->ended);
}

static void complete(const struct hsakmt_model* gpu, uint64_t address, unsigned type, uint64_t object) {
  struct signal* signal = signal_at(gpu, address);
  if (!signal) return;
  /* Everything needed is read first: whoever waits may free the signal as soon as its value changes. */
  const uint64_t mailbox = signal->mailbox;
  const uint32_t event_id = signal->event_id;
  signal->started = now();
  static _Atomic uint64_t works; /* no two works take the same time */
  signal->ended = signal->started + 1000 + atomic_fetch_add(&works, 1) % 1000;
  tell(type, object, address, signal);
  atomic_fetch_sub(&signal->value, 1);
  if (!mailbox) return;
  atomic_store((_Atomic uint64_t*)(gpu->aperture + mailbox), event_id);
  gpu->set_event(gpu->set_event_data, event_id);
}

/* True when the packet at the read index was consumed. */
static int step(struct hsakmt_model_queue* queue) {
  const uint64_t index = atomic_load(queue->read_index);
  if (index == atomic_load(queue->write_index)) return 0;
  struct packet* packet = &queue->ring[index % queue->slots];
  const unsigned type = atomic_load(&packet->header) & 0xff;
  if (type == packet_invalid) return 0; /* reserved by a producer, not yet published */
  if (type == packet_barrier_and && !barrier_open(queue, packet, 0)) return 0;
  if (type == packet_barrier_or && !barrier_open(queue, packet, 1)) return 0;
  const uint64_t completion = packet->completion, object = type == packet_kernel ? packet->dependencies[3] : 0;
  atomic_store(&packet->header, packet_invalid);
  atomic_store(queue->read_index, index + 1);
  complete(queue->gpu, completion, type, object);
  return 1;
}

static void* work(void* argument) {
  struct hsakmt_model_queue* queue = argument;
  unsigned idle = 0;
  while (!atomic_load(&queue->stop)) {
    if (step(queue)) idle = 0;
    else rest(idle++);
  }
  return NULL;
}

static hsakmt_model_t* create(void) {
  const char* file = getenv("HSA_MODEL_TIMES");
  times = file ? fopen(file, "a") : NULL;
  if (times) setvbuf(times, NULL, _IOLBF, 0);
  return calloc(1, sizeof(struct hsakmt_model));
}
static void destroy(hsakmt_model_t* gpu) { free(gpu); }

static void set_global_aperture(hsakmt_model_t* gpu, void* base, uint64_t size) {
  (void)size;
  gpu->aperture = base;
}

static void memory_changed_flags(hsakmt_model_t* gpu, void* base, uint64_t size, uint32_t flags) {
  (void)gpu, (void)base, (void)size, (void)flags;
}
static void memory_changed(hsakmt_model_t* gpu, void* base, uint64_t size) { (void)gpu, (void)base, (void)size; }
static void set_notify_event(hsakmt_model_t* gpu, void (*callback)(void*), void* data) {
  (void)gpu, (void)callback, (void)data;
}
static void set_wait_event(hsakmt_model_t* gpu, void (*callback)(void*, uint64_t, uint64_t), void* data) {
  (void)gpu, (void)callback, (void)data;
}

static void set_set_event(hsakmt_model_t* gpu, hsakmt_model_set_event_fn set_event, void* data) {
  gpu->set_event = set_event;
  gpu->set_event_data = data;
}

static hsakmt_model_queue_t* register_queue(hsakmt_model_t* gpu, struct hsakmt_model_queue_info* info) {
  struct hsakmt_model_queue* queue = calloc(1, sizeof *queue);
  if (!queue) abort();
  queue->gpu = gpu;
  queue->ring = (struct packet*)(gpu->aperture + info->ring_base_address);
  queue->slots = info->ring_size / packet_bytes;
  queue->write_index = (_Atomic uint64_t*)(gpu->aperture + info->write_pointer_address);
  queue->read_index = (_Atomic uint64_t*)(gpu->aperture + info->read_pointer_address);
  /* A queue of another kind (SDMA) is accepted and ignored: the topology offers no such engine. */
  atomic_store(&queue->stop, info->queue_type != queue_type_aql || queue->slots == 0);
  if (pthread_create(&queue->worker, NULL, work, queue) != 0) abort();
  return queue;
}

static void destroy_queue(hsakmt_model_t* gpu, hsakmt_model_queue_t* queue) {
  (void)gpu;
  atomic_store(&queue->stop, 1);
  pthread_join(queue->worker, NULL);
  free(queue);
}

const struct hsakmt_model_functions* get_hsakmt_model_functions(void) {
  static const struct hsakmt_model_functions table = {
      .version_major = 0,
      .version_minor = 4,
      .create = create,
      .destroy = destroy,
      .set_global_aperture = set_global_aperture,
      .alloced_memory = memory_changed_flags,
      .freed_memory = memory_changed,
      .set_notify_event = set_notify_event,
      .set_wait_event = set_wait_event,
      .register_queue = register_queue,
      .set_set_event = set_set_event,
      .destroy_queue = destroy_queue,
  };
  return &table;
}
