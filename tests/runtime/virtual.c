// Virtual memory management, and memory of the program's own that is registered. Few of each are needed, so one lock
// and short lists do.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "standin.h"

enum { most = 256 };
struct ihipMemGenericAllocationHandle {
  size_t bytes;
  int device, handles, mappings;
};
struct range {
  char* start;
  size_t bytes;
  hipMemGenericAllocationHandle_t block;
  int device;
};
static struct range reserved[most], mapped[most], registered[most];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct range* range_at(struct range* list, const char* start) {
  for (int i = 0; i < most; ++i)
    if (list[i].start == start) return &list[i];
  return NULL;
}

// The handle stays: it is told apart from those that come later.
static void drop_if_gone(hipMemGenericAllocationHandle_t block) {
  if (block->handles || block->mappings || !block->bytes) return;
  standin_give(block->device, 0, block->bytes, block->bytes);
  block->bytes = 0;
}

HIP(hipError_t, hipMemAddressReserve)
(void** out, size_t bytes, size_t alignment, void* wanted, unsigned long long flags) {
  ENTER(hipMemAddressReserve);
  (void)alignment;
  (void)wanted;
  (void)flags;
  void* at =
      out && bytes ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  pthread_mutex_lock(&lock);
  struct range* r = at == MAP_FAILED ? NULL : range_at(reserved, NULL);
  if (r) *r = (struct range){at, bytes, NULL, 0};
  pthread_mutex_unlock(&lock);
  if (!r) return standin_fail(hipErrorInvalidValue);
  *out = at;
  return hipSuccess;
}

HIP(hipError_t, hipMemAddressFree)(void* at, size_t bytes) {
  ENTER(hipMemAddressFree);
  pthread_mutex_lock(&lock);
  struct range* r = at ? range_at(reserved, at) : NULL;
  const int fine = r && r->bytes == bytes;
  if (fine) *r = (struct range){0};
  pthread_mutex_unlock(&lock);
  if (!fine) return standin_fail(hipErrorInvalidValue);
  munmap(at, bytes);
  return hipSuccess;
}

HIP(hipError_t, hipMemCreate)
(hipMemGenericAllocationHandle_t* out, size_t bytes, const hipMemAllocationProp* prop, unsigned long long flags) {
  ENTER(hipMemCreate);
  (void)flags;
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out || !prop || !bytes) return standin_fail(hipErrorInvalidValue);
  const int device = standin_current_device();
  if (!standin_fits(device, bytes)) return standin_out_of_memory();
  hipMemGenericAllocationHandle_t block = calloc(1, sizeof *block);
  if (!block) return standin_fail(hipErrorOutOfMemory);
  *block = (struct ihipMemGenericAllocationHandle){bytes, device, 1, 0};
  standin_take(device, 0, bytes, bytes);
  *out = block;
  return hipSuccess;
}

HIP(hipError_t, hipMemRelease)(hipMemGenericAllocationHandle_t block) {
  ENTER(hipMemRelease);
  pthread_mutex_lock(&lock);
  const int fine = block && block->handles > 0;
  if (fine) {
    --block->handles;
    drop_if_gone(block);
  }
  pthread_mutex_unlock(&lock);
  return fine ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipMemMap)
(void* at, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t block, unsigned long long flags) {
  ENTER(hipMemMap);
  (void)offset;
  (void)flags;
  pthread_mutex_lock(&lock);
  struct range* r = at && block && block->handles > 0 ? range_at(mapped, NULL) : NULL;
  if (r) {
    *r = (struct range){at, bytes, block, 0};
    ++block->mappings;
  }
  pthread_mutex_unlock(&lock);
  return r ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipMemUnmap)(void* at, size_t bytes) {
  ENTER(hipMemUnmap);
  int found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; at && i < most; ++i) {
    struct range* r = &mapped[i];
    if (!r->start || r->start < (char*)at || r->start >= (char*)at + bytes) continue;
    --r->block->mappings;
    drop_if_gone(r->block);
    *r = (struct range){0};
    ++found;
  }
  pthread_mutex_unlock(&lock);
  return found ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipMemRetainAllocationHandle)(hipMemGenericAllocationHandle_t* out, void* at) {
  ENTER(hipMemRetainAllocationHandle);
  pthread_mutex_lock(&lock);
  struct range* r = at && out ? range_at(mapped, at) : NULL;
  if (r) {
    ++r->block->handles;
    *out = r->block;
  }
  pthread_mutex_unlock(&lock);
  return r ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipHostRegister)(void* at, size_t bytes, unsigned flags) {
  ENTER(hipHostRegister);
  (void)flags;
  pthread_mutex_lock(&lock);
  struct range* r = at && bytes && !range_at(registered, at) ? range_at(registered, NULL) : NULL;
  if (r) *r = (struct range){at, bytes, NULL, standin_current_device()};
  pthread_mutex_unlock(&lock);
  if (!r) return standin_fail(hipErrorInvalidValue);
  standin_take(r->device, 1, bytes, bytes);
  return hipSuccess;
}

HIP(hipError_t, hipHostUnregister)(void* at) {
  ENTER(hipHostUnregister);
  pthread_mutex_lock(&lock);
  struct range* r = at ? range_at(registered, at) : NULL;
  const struct range was = r ? *r : (struct range){0};
  if (r) *r = (struct range){0};
  pthread_mutex_unlock(&lock);
  if (!r) return standin_fail(hipErrorInvalidValue);
  standin_give(was.device, 1, was.bytes, was.bytes);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceGetDefaultMemPool)(hipMemPool_t* pool, int device) {
  ENTER(hipDeviceGetDefaultMemPool);
  if (!pool || device < 0 || device >= standin_devices()) return standin_fail(hipErrorInvalidValue);
  *pool = (hipMemPool_t)(uintptr_t)(0x1000 + device);
  return hipSuccess;
}
