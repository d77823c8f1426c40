// Streams and events. Nothing runs in the background: work is done when it is enqueued, callbacks run inside the call
// that registers them. After work was enqueued, a stream says "not ready" once, as programs that poll must expect.
#include "standin.h"

struct ihipStream_t {
  int alive, pending;
  unsigned flags;
  int priority;
  hipGraph_t capture;
};
struct ihipEvent_t {
  int alive;
  uint64_t tick;
  hipGraph_t capture;
};
enum { most = 4096 };
static struct ihipStream_t streams[most], null_stream = {1, 0, 0, 0, NULL};
static struct ihipEvent_t events[most];
static uint64_t clock_ticks;  // counts enqueued work: 0.25 ms each, so that elapsed times are the same in every run

int standin_is_stream(hipStream_t s) {
  if ((uintptr_t)s <= 2) return 1;  // the null stream, hipStreamLegacy, hipStreamPerThread
  return s >= streams && s < streams + most && __atomic_load_n(&s->alive, __ATOMIC_ACQUIRE);
}

static struct ihipStream_t* object(hipStream_t s) { return (uintptr_t)s <= 2 ? &null_stream : s; }

void standin_enqueue(hipStream_t stream) {
  __atomic_store_n(&object(stream)->pending, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&clock_ticks, 1, __ATOMIC_RELAXED);
}

hipGraph_t standin_capture(hipStream_t stream) { return __atomic_load_n(&object(stream)->capture, __ATOMIC_ACQUIRE); }

void standin_set_capture(hipStream_t stream, hipGraph_t graph) {
  __atomic_store_n(&object(stream)->capture, graph, __ATOMIC_RELEASE);
}

// Also of the streams that an event led into it.
void standin_end_capture(hipGraph_t graph) {
  for (int i = 0; i < most; ++i) {
    if (streams[i].capture == graph) streams[i].capture = NULL;
    if (events[i].capture == graph) events[i].capture = NULL;
  }
}

static hipError_t create(hipStream_t* out, unsigned flags, int priority) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out || flags > 1) return standin_fail(hipErrorInvalidValue);
  for (int i = 0; i < most; ++i) {
    int dead = 0;
    if (!__atomic_compare_exchange_n(&streams[i].alive, &dead, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    streams[i].pending = 0;
    streams[i].flags = flags;
    streams[i].priority = priority;
    *out = &streams[i];
    return hipSuccess;
  }
  return standin_fail(hipErrorOutOfMemory);
}

HIP(hipError_t, hipStreamCreate)(hipStream_t* out) {
  ENTER(hipStreamCreate);
  return create(out, 0, 0);
}

HIP(hipError_t, hipStreamCreateWithFlags)(hipStream_t* out, unsigned flags) {
  ENTER(hipStreamCreateWithFlags);
  return create(out, flags, 0);
}

HIP(hipError_t, hipStreamCreateWithPriority)(hipStream_t* out, unsigned flags, int priority) {
  ENTER(hipStreamCreateWithPriority);
  return create(out, flags, priority);
}

HIP(hipError_t, hipExtStreamCreateWithCUMask)(hipStream_t* out, uint32_t words, const uint32_t* mask) {
  ENTER(hipExtStreamCreateWithCUMask);
  return words && mask ? create(out, 0, 0) : standin_fail(hipErrorInvalidValue);
}

#define CHECK_STREAM(stream) \
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle)

HIP(hipError_t, hipStreamDestroy)(hipStream_t stream) {
  ENTER(hipStreamDestroy);
  CHECK_STREAM(stream);
  __atomic_store_n(&object(stream)->alive, stream ? 0 : 1, __ATOMIC_RELEASE);
  return hipSuccess;
}

HIP(hipError_t, hipStreamQuery)(hipStream_t stream) {
  ENTER(hipStreamQuery);
  CHECK_STREAM(stream);
  return __atomic_exchange_n(&object(stream)->pending, 0, __ATOMIC_RELAXED) ? hipErrorNotReady : hipSuccess;
}

HIP(hipError_t, hipStreamSynchronize)(hipStream_t stream) {
  ENTER(hipStreamSynchronize);
  CHECK_STREAM(stream);
  __atomic_store_n(&object(stream)->pending, 0, __ATOMIC_RELAXED);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceSynchronize)(void) {
  ENTER(hipDeviceSynchronize);
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  null_stream.pending = 0;
  return hipSuccess;
}

HIP(hipError_t, hipStreamGetFlags)(hipStream_t stream, unsigned* flags) {
  ENTER(hipStreamGetFlags);
  CHECK_STREAM(stream);
  if (!flags) return standin_fail(hipErrorInvalidValue);
  *flags = object(stream)->flags;
  return hipSuccess;
}

HIP(hipError_t, hipStreamWaitEvent)(hipStream_t stream, hipEvent_t event, unsigned flags) {
  ENTER(hipStreamWaitEvent);
  CHECK_STREAM(stream);
  if (!event || flags) return standin_fail(hipErrorInvalidValue);
  if (event->capture) standin_set_capture(stream, event->capture);
  return hipSuccess;
}

HIP(hipError_t, hipStreamAddCallback)
(hipStream_t stream, hipStreamCallback_t callback, void* user_data, unsigned flags) {
  ENTER(hipStreamAddCallback);
  CHECK_STREAM(stream);
  if (!callback || flags) return standin_fail(hipErrorInvalidValue);
  callback(stream, hipSuccess, user_data);
  return hipSuccess;
}

HIP(hipError_t, hipLaunchHostFunc)(hipStream_t stream, hipHostFn_t function, void* user_data) {
  ENTER(hipLaunchHostFunc);
  CHECK_STREAM(stream);
  if (!function) return standin_fail(hipErrorInvalidValue);
  function(user_data);
  return hipSuccess;
}

static hipError_t create_event(hipEvent_t* out) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out) return standin_fail(hipErrorInvalidValue);
  for (int i = 0; i < most; ++i) {
    int dead = 0;
    if (!__atomic_compare_exchange_n(&events[i].alive, &dead, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    events[i].tick = 0;
    *out = &events[i];
    return hipSuccess;
  }
  return standin_fail(hipErrorOutOfMemory);
}

HIP(hipError_t, hipEventCreate)(hipEvent_t* out) {
  ENTER(hipEventCreate);
  return create_event(out);
}

HIP(hipError_t, hipEventCreateWithFlags)(hipEvent_t* out, unsigned flags) {
  ENTER(hipEventCreateWithFlags);
  (void)flags;
  return create_event(out);
}

static int is_event(hipEvent_t e) {
  return e >= events && e < events + most && __atomic_load_n(&e->alive, __ATOMIC_ACQUIRE);
}
#define CHECK_EVENT(event) \
  if (!is_event(event)) return standin_fail(hipErrorInvalidHandle)

HIP(hipError_t, hipEventDestroy)(hipEvent_t event) {
  ENTER(hipEventDestroy);
  CHECK_EVENT(event);
  __atomic_store_n(&event->alive, 0, __ATOMIC_RELEASE);
  return hipSuccess;
}

HIP(hipError_t, hipEventRecord)(hipEvent_t event, hipStream_t stream) {
  ENTER(hipEventRecord);
  CHECK_EVENT(event);
  CHECK_STREAM(stream);
  event->tick = __atomic_load_n(&clock_ticks, __ATOMIC_RELAXED) + 1;
  event->capture = standin_capture(stream);
  return hipSuccess;
}

HIP(hipError_t, hipEventQuery)(hipEvent_t event) {
  ENTER(hipEventQuery);
  CHECK_EVENT(event);
  return hipSuccess;
}

HIP(hipError_t, hipEventSynchronize)(hipEvent_t event) {
  ENTER(hipEventSynchronize);
  CHECK_EVENT(event);
  return hipSuccess;
}

HIP(hipError_t, hipEventElapsedTime)(float* ms, hipEvent_t start, hipEvent_t stop) {
  ENTER(hipEventElapsedTime);
  CHECK_EVENT(start);
  CHECK_EVENT(stop);
  if (!ms || !start->tick || !stop->tick) return standin_fail(hipErrorInvalidValue);
  *ms = 0.25f * (float)(stop->tick - start->tick);
  return hipSuccess;
}
