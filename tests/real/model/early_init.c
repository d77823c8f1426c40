/* Starts the HSA runtime before main() on a stack of our choosing. Needed with the simulated GPU only.
 *
 * libhsakmt 7.2, when a model stands in for the driver, never fills in its number of nodes: it allocates and clears as
 * many bytes as the low half of some stack address says, at random up to 4 GiB, which takes seconds and may take all
 * memory. On a stack whose address has a small low half that number is small. The runtime counts its users, so the
 * program's own first HIP call finds it started. Preloaded into the programs or linked with them; touches nothing of
 * theirs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { stack_bytes = 4 << 20 };

/* The HSA runtime's own; that this library needs it also makes the loader initialise it first. */
extern int hsa_init(void);

static void* stack_at_a_round_address(void) {
  for (uint64_t i = 0; i < 64; i++) {
    void* wanted = (void*)(0x600000000000u + (i << 32));
    void* stack = mmap(wanted, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (stack == wanted) return stack;
    if (stack != MAP_FAILED) munmap(stack, stack_bytes);
  }
  return NULL;
}

static void* start_runtime(void* unused) {
  hsa_init();
  return unused;
}

__attribute__((constructor)) static void early_init(void) {
  if (!getenv("HSA_MODEL_TOPOLOGY")) return;
  void* stack = stack_at_a_round_address();
  pthread_attr_t attributes;
  pthread_t thread;
  if (!stack || pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstack(&attributes, stack, stack_bytes) == 0 &&
      pthread_create(&thread, &attributes, start_runtime, NULL) == 0)
    pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}
