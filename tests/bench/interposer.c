// The least that a recorder inside the program costs: an LD_PRELOAD library that writes a record of each call of
// hipMemcpy into a ring of its thread, as a tap does. Nobody reads it.
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

enum { RING = 1 << 18, ENTRY = 96, LEAVE = 32 };
struct ring {
  uint64_t head;
  char records[RING + ENTRY];
};
static _Thread_local struct ring* mine;

static char* reserve(uint64_t size) {
  if (!mine) mine = calloc(1, sizeof *mine);
  struct ring* const ring = mine;
  char* const at = ring->records + (ring->head & (RING - 1));
  ring->head += size;
  return at;
}

hipError_t hipMemcpy(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  static hipError_t (*next)(void*, const void*, size_t, hipMemcpyKind);
  if (!next) {
    void* const found = dlsym(RTLD_NEXT, "hipMemcpy");
    memcpy(&next, &found, sizeof next);
  }
  uint64_t* const entry = (uint64_t*)reserve(ENTRY);
  entry[1] = __rdtsc();
  entry[2] = (uint64_t)__builtin_frame_address(0);
  entry[3] = (uint64_t)__builtin_return_address(0);
  entry[4] = (uint64_t)to;
  entry[5] = (uint64_t)from;
  entry[6] = size;
  entry[7] = kind;
  entry[0] = mine->head << 24 | 1;
  const hipError_t result = next(to, from, size, kind);
  uint64_t* const leave = (uint64_t*)reserve(LEAVE);
  leave[1] = __rdtsc();
  leave[2] = (uint64_t)__builtin_frame_address(0);
  leave[3] = result;
  leave[0] = mine->head << 24 | 2;
  return result;
}
