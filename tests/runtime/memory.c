// "Device" memory is host memory, so copies are real. Live blocks stand in a lock-free table: a signal handler may allocate
// while its thread is inside an allocation (blocks come from mmap for the same reason).
#include <string.h>
#include <sys/mman.h>

#include "standin.h"

enum { slots = 1 << 16, most_probes = 128, kind_device = 2, kind_host = 1 };
struct block { uintptr_t address; size_t bytes, asked; int device, kind; };
static struct block table[slots];  // address: 0 never used, 1 freed
static struct block* slot(uintptr_t address, int probe) {
  return &table[((address >> 12) * 0x9E3779B1u + (unsigned)probe) % slots];
}

static struct block* claim(uintptr_t address) {
  for (int probe = 0; probe < most_probes; ++probe) {
    struct block* b = slot(address, probe);
    uintptr_t seen = __atomic_load_n(&b->address, __ATOMIC_RELAXED);
    if (seen <= 1 && __atomic_compare_exchange_n(&b->address, &seen, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return b;
  }
  return NULL;
}

static struct block* find(const void* ptr) {
  for (int probe = 0; ptr && probe < most_probes; ++probe) {
    struct block* b = slot((uintptr_t)ptr, probe);
    const uintptr_t seen = __atomic_load_n(&b->address, __ATOMIC_ACQUIRE);
    if (seen == (uintptr_t)ptr) return b;
    if (!seen) break;
  }
  return NULL;
}

static hipError_t allocate(void** out, size_t bytes, size_t asked, int kind) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out) return standin_fail(hipErrorInvalidValue);
  *out = NULL;
  const int device = standin_current_device();
  if (!bytes) return hipSuccess;
  if (!standin_fits(device, bytes)) {
    return standin_out_of_memory();
  }
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  struct block* b = memory == MAP_FAILED ? NULL : claim((uintptr_t)memory);
  if (!b) return standin_fail(hipErrorOutOfMemory);
  b->bytes = bytes;
  b->asked = asked;
  b->device = device;
  b->kind = kind;
  standin_take(device, kind == kind_host, bytes, asked);
  *out = memory;
  return hipSuccess;
}

static hipError_t release(void* ptr) {
  if (!ptr) return hipSuccess;
  struct block* b = find(ptr);
  if (!b) return standin_fail(hipErrorInvalidValue);
  const struct block was = *b;
  uintptr_t address = (uintptr_t)ptr;
  if (!__atomic_compare_exchange_n(&b->address, &address, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return standin_fail(hipErrorInvalidValue);
  munmap(ptr, was.bytes);
  standin_give(was.device, was.kind == kind_host, was.bytes, was.asked);
  return hipSuccess;
}

HIP(hipError_t, hipMalloc)(void** ptr, size_t bytes) {
  ENTER(hipMalloc);
  return allocate(ptr, bytes, bytes, kind_device);
}

HIP(hipError_t, hipMallocAsync)(void** ptr, size_t bytes, hipStream_t stream) {
  ENTER(hipMallocAsync);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  return allocate(ptr, bytes, bytes, kind_device);
}

HIP(hipError_t, hipMallocFromPoolAsync)(void** ptr, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  ENTER(hipMallocFromPoolAsync);
  if (!pool || !standin_is_stream(stream)) return standin_fail(hipErrorInvalidValue);
  return allocate(ptr, bytes, bytes, kind_device);
}

HIP(hipError_t, hipMallocManaged)(void** ptr, size_t bytes, unsigned flags) {
  ENTER(hipMallocManaged);
  return flags > 2 ? standin_fail(hipErrorInvalidValue) : allocate(ptr, bytes, bytes, kind_device);
}

HIP(hipError_t, hipExtMallocWithFlags)(void** ptr, size_t bytes, unsigned flags) {
  ENTER(hipExtMallocWithFlags);
  (void)flags;
  return allocate(ptr, bytes, bytes, kind_device);
}

HIP(hipError_t, hipHostMalloc)(void** ptr, size_t bytes, unsigned flags) {
  ENTER(hipHostMalloc);
  (void)flags;
  return allocate(ptr, bytes, bytes, kind_host);
}

HIP(hipError_t, hipHostAlloc)(void** ptr, size_t bytes, unsigned flags) {
  ENTER(hipHostAlloc);
  return hipHostMalloc(ptr, bytes, flags);
}

HIP(hipError_t, hipMallocHost)(void** ptr, size_t bytes) {
  ENTER(hipMallocHost);
  return allocate(ptr, bytes, bytes, kind_host);
}

HIP(hipError_t, hipMallocPitch)(void** ptr, size_t* pitch, size_t width, size_t height) {
  ENTER(hipMallocPitch);
  if (!pitch) return standin_fail(hipErrorInvalidValue);
  *pitch = (width + 255) / 256 * 256;
  return allocate(ptr, *pitch * height, width * height, kind_device);
}

HIP(hipError_t, hipMalloc3D)(hipPitchedPtr* out, hipExtent extent) {
  ENTER(hipMalloc3D);
  if (!out) return standin_fail(hipErrorInvalidValue);
  out->xsize = extent.width;
  out->ysize = extent.height;
  return hipMallocPitch(&out->ptr, &out->pitch, extent.width, extent.height * extent.depth);
}

HIP(hipError_t, hipFree)(void* ptr) {
  ENTER(hipFree);
  return release(ptr);
}

HIP(hipError_t, hipFreeAsync)(void* ptr, hipStream_t stream) {
  ENTER(hipFreeAsync);
  return standin_is_stream(stream) ? release(ptr) : standin_fail(hipErrorInvalidHandle);
}

HIP(hipError_t, hipHostFree)(void* ptr) {
  ENTER(hipHostFree);
  return release(ptr);
}

HIP(hipError_t, hipFreeHost)(void* ptr) {
  ENTER(hipFreeHost);
  return release(ptr);
}

HIP(hipError_t, hipPointerGetAttributes)(hipPointerAttribute_t* out, const void* ptr) {
  ENTER(hipPointerGetAttributes);
  const struct block* b = find(ptr);
  if (!out || !b) return standin_fail(hipErrorInvalidValue);
  *out = (hipPointerAttribute_t){b->kind, b->device, (void*)ptr, b->kind == kind_host ? (void*)ptr : NULL, 0, 0};
  return hipSuccess;
}

HIP(hipError_t, hipPointerGetAttribute)(void* out, int attribute, hipDeviceptr_t ptr) {
  ENTER(hipPointerGetAttribute);
  const struct block* b = find(ptr);
  if (!out || !b) return standin_fail(hipErrorInvalidValue);
  if (attribute == 2) *(int*)out = b->kind;
  else if (attribute == 9) *(int*)out = b->device;
  else *(void**)out = ptr;
  return hipSuccess;
}

static hipError_t copy(void* to, const void* from, size_t bytes, unsigned kind, hipStream_t stream) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (kind > hipMemcpyDefault) return standin_fail(hipErrorInvalidMemcpyDirection);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  if (!bytes) return hipSuccess;
  if (!to || !from) return standin_fail(hipErrorInvalidValue);
  memmove(to, from, bytes);
  standin_enqueue(stream);
  return hipSuccess;
}

HIP(hipError_t, hipMemcpy)(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  ENTER(hipMemcpy);
  return copy(to, from, bytes, kind, NULL);
}

HIP(hipError_t, hipMemcpy_spt)(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  ENTER(hipMemcpy_spt);
  return copy(to, from, bytes, kind, NULL);
}

HIP(hipError_t, hipMemcpyAsync)(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  ENTER(hipMemcpyAsync);
  return copy(to, from, bytes, kind, stream);
}

HIP(hipError_t, hipMemcpyWithStream)(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  ENTER(hipMemcpyWithStream);
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}

HIP(hipError_t, hipMemcpyHtoD)(hipDeviceptr_t to, const void* from, size_t bytes) {
  ENTER(hipMemcpyHtoD);
  return copy(to, from, bytes, hipMemcpyHostToDevice, NULL);
}

HIP(hipError_t, hipMemcpyDtoH)(void* to, hipDeviceptr_t from, size_t bytes) {
  ENTER(hipMemcpyDtoH);
  return copy(to, from, bytes, hipMemcpyDeviceToHost, NULL);
}

HIP(hipError_t, hipMemcpyPeer)(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  ENTER(hipMemcpyPeer);
  if (to_device < 0 || to_device >= standin_devices() || from_device < 0 || from_device >= standin_devices())
    return standin_fail(hipErrorInvalidDevice);
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, NULL);
}

static hipError_t fill(void* to, int value, size_t bytes, hipStream_t stream) {
  if (!to || !standin_is_stream(stream)) return standin_fail(hipErrorInvalidValue);
  memset(to, value, bytes);
  standin_enqueue(stream);
  return hipSuccess;
}

HIP(hipError_t, hipMemset)(void* to, int value, size_t bytes) {
  ENTER(hipMemset);
  return fill(to, value, bytes, NULL);
}

HIP(hipError_t, hipMemsetAsync)(void* to, int value, size_t bytes, hipStream_t stream) {
  ENTER(hipMemsetAsync);
  return fill(to, value, bytes, stream);
}

HIP(hipError_t, hipMemsetD8)(hipDeviceptr_t to, unsigned char value, size_t count) {
  ENTER(hipMemsetD8);
  return fill(to, value, count, NULL);
}

// The handle holds the address: "another process" is always this one.
HIP(hipError_t, hipIpcGetMemHandle)(hipIpcMemHandle_t* handle, void* ptr) {
  ENTER(hipIpcGetMemHandle);
  if (!handle || !find(ptr)) return standin_fail(hipErrorInvalidValue);
  memset(handle, 0x5a, sizeof *handle);
  memcpy(handle->reserved, &ptr, sizeof ptr);
  return hipSuccess;
}

HIP(hipError_t, hipIpcOpenMemHandle)(void** ptr, hipIpcMemHandle_t handle, unsigned flags) {
  ENTER(hipIpcOpenMemHandle);
  void* address;
  memcpy(&address, handle.reserved, sizeof address);
  if (!ptr || flags != 1 || !find(address) || handle.reserved[63] != 0x5a) return standin_fail(hipErrorInvalidValue);
  *ptr = address;
  return hipSuccess;
}

HIP(hipError_t, hipIpcCloseMemHandle)(void* ptr) {
  ENTER(hipIpcCloseMemHandle);
  return find(ptr) ? hipSuccess : standin_fail(hipErrorInvalidValue);
}
