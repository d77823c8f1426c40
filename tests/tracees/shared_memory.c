// shared_memory MODE: memory of other processes, and from outside of HIP.
#include <sys/wait.h>

#include "tracee.h"

enum { first_bytes = 1 << 20, second_bytes = 96 << 10, pool_bytes = 40000 };
struct offered {
  hipIpcMemHandle_t first, second;
  hipMemPoolPtrExportData third;
};

static int offer(int to, int until) {
  struct offered o;
  hipStream_t stream;
  void *a, *b, *c;
  char end;
  HIP_OK(hipMalloc(&a, first_bytes));
  HIP_OK(hipMalloc(&b, second_bytes));
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipMallocAsync(&c, pool_bytes, stream));
  HIP_OK(hipIpcGetMemHandle(&o.first, a));
  HIP_OK(hipIpcGetMemHandle(&o.second, b));
  HIP_OK(hipMemPoolExportPointer(&o.third, c));
  MUST(write(to, &o, sizeof o) == sizeof o);
  MUST(read(until, &end, 1) == 0);
  HIP_OK(hipFree(a));
  HIP_OK(hipFree(b));
  HIP_OK(hipFreeAsync(c, stream));
  return 0;
}

// As a data loader's worker gives batches to its parent. The second one stays open.
static void use(const struct offered* o) {
  hipMemPoolPtrExportData data = o->third;
  hipMemPool_t pool;
  hipDeviceptr_t base;
  void *a, *again, *b, *c;
  size_t bytes;
  HIP_OK(hipIpcOpenMemHandle(&a, o->first, 1));
  HIP_OK(hipIpcOpenMemHandle(&again, o->first, 1));
  HIP_OK(hipIpcOpenMemHandle(&b, o->second, 1));
  HIP_OK(hipMemGetAddressRange(&base, &bytes, b));
  HIP_OK(hipDeviceGetDefaultMemPool(&pool, 0));
  HIP_OK(hipMemPoolImportPointer(&c, pool, &data));
  HIP_OK(hipIpcCloseMemHandle(a));
  HIP_OK(hipIpcCloseMemHandle(again));
  HIP_OK(hipFree(c));
  printf("%d %zu\n", a == again, bytes);
}

static void ipc(void) {
  struct offered o;
  int to_parent[2], to_child[2], status;
  MUST(!pipe(to_parent) && !pipe(to_child));
  const pid_t child = fork();
  if (!child) {
    close(to_child[1]);
    exit(offer(to_parent[1], to_child[0]));
  }
  close(to_child[0]);
  MUST(read(to_parent[0], &o, sizeof o) == sizeof o);
  use(&o);
  close(to_child[1]);
  MUST(waitpid(child, &status, 0) == child && !status);
}

static void external(void) {
  const hipExternalMemoryHandleDesc desc = {.type = 1, .handle = {.fd = 3}, .size = 1 << 20};
  const hipExternalMemoryBufferDesc half = {.offset = 0, .size = 1 << 19};
  hipExternalMemory_t memory;
  void* at;
  HIP_OK(hipImportExternalMemory(&memory, &desc));
  HIP_OK(hipExternalMemoryGetMappedBuffer(&at, memory, &half));
  HIP_OK(hipFree(at));
  HIP_OK(hipDestroyExternalMemory(memory));
  HIP_OK(hipImportExternalMemory(&memory, &desc));
  HIP_OK(hipExternalMemoryGetMappedBuffer(&at, memory, &half));
}

// Where its pages are, and what for, changes nothing about how much there is.
static void managed(void) {
  enum { bytes = 300000, preferred_location = 3, host = -1 };
  void* p;
  HIP_OK(hipMallocManaged(&p, bytes, 1));
  HIP_OK(hipMemAdvise(p, bytes, preferred_location, 0));
  HIP_OK(hipMemPrefetchAsync(p, bytes, 0, NULL));
  HIP_OK(hipMemPrefetchAsync(p, bytes, host, NULL));
  HIP_OK(hipFree(p));
  HIP_OK(hipMallocManaged(&p, bytes, 1));
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "ipc";
  if (!strcmp(mode, "ipc")) ipc();
  else if (!strcmp(mode, "external")) external();
  else if (!strcmp(mode, "managed")) managed();
  else return 2;
  printf("%s\n", mode);
}
