// Memory of others: offered by one process and opened by another one, and external memory. What is opened has bytes of
// its own here, not those of the process that offered it: programs that look into them see zeros.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "standin.h"

// hipIpcMemHandle_t and hipMemPoolPtrExportData.
struct offer {
  char magic[8];
  void* address;
  size_t bytes;
  int pid, device;
  char rest[32];
};
_Static_assert(sizeof(struct offer) == sizeof(hipIpcMemHandle_t), "as large as a handle");
static const char magic[8] = "standin";

enum { most = 256 };
static struct {
  struct offer offer;
  void* at;
  int opened;
} opened[most];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static hipError_t offer(void* out, const void* ptr) {
  const struct standin_block* b = standin_find(ptr);
  if (!out || !b) return standin_fail(hipErrorInvalidValue);
  struct offer made = {.address = (void*)b->address, .bytes = b->bytes, .pid = getpid(), .device = b->device};
  memcpy(made.magic, magic, sizeof magic);
  memcpy(out, &made, sizeof made);
  return hipSuccess;
}

static int is_offer(const struct offer* o) { return !memcmp(o->magic, magic, sizeof magic); }

HIP(hipError_t, hipIpcGetMemHandle)(hipIpcMemHandle_t* handle, void* ptr) {
  ENTER(hipIpcGetMemHandle);
  return offer(handle, ptr);
}

// In the process that offered it: the same address. Elsewhere the same one for whoever opens it again.
HIP(hipError_t, hipIpcOpenMemHandle)(void** out, hipIpcMemHandle_t handle, unsigned flags) {
  ENTER(hipIpcOpenMemHandle);
  struct offer o;
  memcpy(&o, &handle, sizeof o);
  if (!out || flags != 1 || !is_offer(&o)) return standin_fail(hipErrorInvalidValue);
  if (o.pid == getpid()) return standin_find(*out = o.address) ? hipSuccess : standin_fail(hipErrorInvalidValue);
  hipError_t result = hipErrorOutOfMemory;
  pthread_mutex_lock(&lock);
  int free_slot = -1, i = 0;
  while (i < most && (!opened[i].opened || memcmp(&opened[i].offer, &o, sizeof o))) {
    if (!opened[i].opened) free_slot = i;
    ++i;
  }
  if (i < most) result = hipSuccess;
  else if (free_slot >= 0) result = standin_map(&opened[i = free_slot].at, o.bytes, o.device, standin_of_others);
  if (result == hipSuccess) {
    opened[i].offer = o;
    ++opened[i].opened;
    *out = opened[i].at;
  }
  pthread_mutex_unlock(&lock);
  return result == hipSuccess ? hipSuccess : standin_fail(result);
}

HIP(hipError_t, hipIpcCloseMemHandle)(void* ptr) {
  ENTER(hipIpcCloseMemHandle);
  int found = 0, last = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < most && !found; ++i)
    if (opened[i].opened && opened[i].at == ptr) {
      found = 1;
      last = --opened[i].opened == 0;
    }
  pthread_mutex_unlock(&lock);
  if (last) return standin_release(ptr);
  return found || standin_find(ptr) ? hipSuccess : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipMemPoolExportPointer)(hipMemPoolPtrExportData* out, void* ptr) {
  ENTER(hipMemPoolExportPointer);
  return offer(out, ptr);
}

HIP(hipError_t, hipMemPoolImportPointer)(void** out, hipMemPool_t pool, hipMemPoolPtrExportData* data) {
  ENTER(hipMemPoolImportPointer);
  struct offer o;
  if (!out || !pool || !data) return standin_fail(hipErrorInvalidValue);
  memcpy(&o, data, sizeof o);
  return is_offer(&o) ? standin_map(out, o.bytes, o.device, standin_of_others) : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipMemGetAddressRange)(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t ptr) {
  ENTER(hipMemGetAddressRange);
  const struct standin_block* b = standin_find(ptr);
  if (!base || !bytes || !b) return standin_fail(hipErrorInvalidValue);
  *base = (void*)b->address;
  *bytes = b->bytes;
  return hipSuccess;
}

HIP(hipError_t, hipMemPtrGetInfo)(void* ptr, size_t* bytes) {
  ENTER(hipMemPtrGetInfo);
  const struct standin_block* b = standin_find(ptr);
  if (!bytes || !b) return standin_fail(hipErrorInvalidValue);
  *bytes = b->bytes;
  return hipSuccess;
}

// ---- external memory
enum { external_magic = 0x45585445 };
struct hipExternalMemory {
  int magic, device;
  size_t bytes;
};

HIP(hipError_t, hipImportExternalMemory)(hipExternalMemory_t* out, const hipExternalMemoryHandleDesc* desc) {
  ENTER(hipImportExternalMemory);
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out || !desc || !desc->size) return standin_fail(hipErrorInvalidValue);
  *out = malloc(sizeof **out);
  **out = (struct hipExternalMemory){external_magic, standin_current_device(), desc->size};
  standin_take((*out)->device, standin_of_others, desc->size, desc->size);
  return hipSuccess;
}

static int is_external(hipExternalMemory_t memory) { return memory && memory->magic == external_magic; }

HIP(hipError_t, hipExternalMemoryGetMappedBuffer)
(void** out, hipExternalMemory_t memory, const hipExternalMemoryBufferDesc* desc) {
  ENTER(hipExternalMemoryGetMappedBuffer);
  if (!out || !is_external(memory) || !desc || desc->flags || desc->offset + desc->size > memory->bytes)
    return standin_fail(hipErrorInvalidValue);
  return standin_map(out, desc->size, memory->device, standin_nobodys);
}

HIP(hipError_t, hipDestroyExternalMemory)(hipExternalMemory_t memory) {
  ENTER(hipDestroyExternalMemory);
  if (!is_external(memory)) return standin_fail(hipErrorInvalidValue);
  memory->magic = 0;  // the handle itself stays: that it is destroyed twice must be seen
  standin_give(memory->device, standin_of_others, memory->bytes, memory->bytes);
  return hipSuccess;
}
