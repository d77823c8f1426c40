// "Device" memory is host memory, so copies are real. Live blocks stand in a lock-free table: a signal handler may
// allocate while its thread is inside an allocation (blocks come from mmap for the same reason).
#include <string.h>
#include <sys/mman.h>

#include "standin.h"

enum { slots = 1 << 16, most_probes = 128, kind_device = standin_of_device, kind_host = standin_of_host };
static struct standin_block table[slots];  // address: 0 never used, 1 freed
static struct standin_block* slot(uintptr_t address, int probe) {
  return &table[((address >> 12) * 0x9E3779B1u + (unsigned)probe) % slots];
}

static struct standin_block* claim(uintptr_t address) {
  for (int probe = 0; probe < most_probes; ++probe) {
    struct standin_block* b = slot(address, probe);
    uintptr_t seen = __atomic_load_n(&b->address, __ATOMIC_RELAXED);
    if (seen <= 1 && __atomic_compare_exchange_n(&b->address, &seen, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return b;
  }
  return NULL;
}

struct standin_block* standin_find(const void* ptr) {
  for (int probe = 0; ptr && probe < most_probes; ++probe) {
    struct standin_block* b = slot((uintptr_t)ptr, probe);
    const uintptr_t seen = __atomic_load_n(&b->address, __ATOMIC_ACQUIRE);
    if (seen == (uintptr_t)ptr) return b;
    if (!seen) break;
  }
  return NULL;
}

static struct standin_block* new_block(int device, size_t bytes, size_t asked, int kind) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  struct standin_block* b = memory == MAP_FAILED ? NULL : claim((uintptr_t)memory);
  if (b) *b = (struct standin_block){b->address, bytes, asked, device, kind, 0, 0};
  return b;
}

hipError_t standin_map(void** out, size_t bytes, int device, int kind) {
  struct standin_block* b = new_block(device, bytes, bytes, kind);
  if (!b) return standin_fail(hipErrorOutOfMemory);
  if (kind != standin_nobodys) standin_take(device, kind, bytes, bytes);
  *out = (void*)b->address;
  return hipSuccess;
}

hipError_t standin_reserve(void** out, size_t bytes, int device) {
  struct standin_block* b = bytes ? new_block(device, bytes, bytes, kind_device) : NULL;
  if (!b) return standin_fail(hipErrorInvalidValue);
  b->of_graph = 1;
  *out = (void*)b->address;
  return hipSuccess;
}

hipError_t standin_back(struct standin_block* b) {
  if (!standin_fits(b->device, b->bytes)) return standin_out_of_memory();
  b->backed = 1;
  standin_take(b->device, standin_of_device, b->bytes, b->asked);
  return hipSuccess;
}

hipError_t standin_unback(struct standin_block* b) {
  if (!__atomic_exchange_n(&b->backed, 0, __ATOMIC_ACQ_REL)) return standin_fail(hipErrorInvalidValue);
  standin_give(b->device, standin_of_device, b->bytes, b->asked);
  return hipSuccess;
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
  struct standin_block* b = new_block(device, bytes, asked, kind);
  if (!b) return standin_fail(hipErrorOutOfMemory);
  standin_take(device, kind, bytes, asked);
  *out = (void*)b->address;
  return hipSuccess;
}

hipError_t standin_release(void* ptr) {
  if (!ptr) return hipSuccess;
  struct standin_block* b = standin_find(ptr);
  if (!b) return standin_fail(hipErrorInvalidValue);
  if (b->of_graph) return standin_unback(b);
  const struct standin_block was = *b;
  uintptr_t address = (uintptr_t)ptr;
  if (!__atomic_compare_exchange_n(&b->address, &address, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return standin_fail(hipErrorInvalidValue);
  munmap(ptr, was.bytes);
  if (was.kind != standin_nobodys) standin_give(was.device, was.kind, was.bytes, was.asked);
  return hipSuccess;
}

HIP(hipError_t, hipMalloc)(void** ptr, size_t bytes) {
  ENTER(hipMalloc);
  return allocate(ptr, bytes, bytes, kind_device);
}

// Into a captured stream: the address is there at once, the memory when the graph is launched.
static hipError_t allocate_on(hipStream_t stream, void** ptr, size_t bytes) {
  if (!standin_capture(stream)) return allocate(ptr, bytes, bytes, kind_device);
  const hipError_t reserved =
      ptr ? standin_reserve(ptr, bytes, standin_current_device()) : standin_fail(hipErrorInvalidValue);
  if (reserved == hipSuccess) standin_captured_memory(stream, *ptr, 0);
  return reserved;
}

HIP(hipError_t, hipMallocAsync)(void** ptr, size_t bytes, hipStream_t stream) {
  ENTER(hipMallocAsync);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  return allocate_on(stream, ptr, bytes);
}

HIP(hipError_t, hipMallocFromPoolAsync)(void** ptr, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  ENTER(hipMallocFromPoolAsync);
  if (!pool || !standin_is_stream(stream)) return standin_fail(hipErrorInvalidValue);
  return allocate_on(stream, ptr, bytes);
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
  return allocate(ptr, *pitch * height, *pitch * height, kind_device);
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
  return standin_release(ptr);
}

HIP(hipError_t, hipFreeAsync)(void* ptr, hipStream_t stream) {
  ENTER(hipFreeAsync);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  return standin_captured_memory(stream, ptr, 1) ? hipSuccess : standin_release(ptr);
}

HIP(hipError_t, hipHostFree)(void* ptr) {
  ENTER(hipHostFree);
  return standin_release(ptr);
}

HIP(hipError_t, hipFreeHost)(void* ptr) {
  ENTER(hipFreeHost);
  return standin_release(ptr);
}

static int type_of(const struct standin_block* b) {
  return b->kind == kind_host ? 1 : 2;
}  // hipMemoryType of 6.0 and later

HIP(hipError_t, hipPointerGetAttributes)(hipPointerAttribute_t* out, const void* ptr) {
  ENTER(hipPointerGetAttributes);
  const struct standin_block* b = standin_find(ptr);
  if (!out || !b) return standin_fail(hipErrorInvalidValue);
  *out = (hipPointerAttribute_t){type_of(b), b->device, (void*)ptr, b->kind == kind_host ? (void*)ptr : NULL, 0, 0};
  return hipSuccess;
}

HIP(hipError_t, hipPointerGetAttribute)(void* out, int attribute, hipDeviceptr_t ptr) {
  ENTER(hipPointerGetAttribute);
  const struct standin_block* b = standin_find(ptr);
  if (!out || !b) return standin_fail(hipErrorInvalidValue);
  if (attribute == 2) *(int*)out = type_of(b);
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
  standin_copied(to, from, bytes, stream);
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
  standin_filled(bytes, stream);
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
