/* The clock of the simulated GPU. libhsakmt 7.2 tells the clock counters of a model as 0, so the runtime cannot turn
 * the times in a signal into those of the host: what it answers is no time. With HSA_MODEL_TIMES the questions of
 * libamdhip64 are answered here instead, from the signal, whose times the model has counted in ns of the host.
 * Preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

enum { started = 4, ended = 5 }; /* words of a signal */

static int answer(uint64_t signal, uint64_t* times) {
  times[0] = ((const uint64_t*)signal)[started];
  times[1] = ((const uint64_t*)signal)[ended];
  return 0;
}

int hsa_amd_profiling_get_dispatch_time(uint64_t agent, uint64_t signal, uint64_t* times) {
  int (*next)(uint64_t, uint64_t, uint64_t*) = dlsym(RTLD_NEXT, "hsa_amd_profiling_get_dispatch_time");
  return getenv("HSA_MODEL_TIMES") ? answer(signal, times) : next(agent, signal, times);
}

int hsa_amd_profiling_get_async_copy_time(uint64_t signal, uint64_t* times) {
  int (*next)(uint64_t, uint64_t*) = dlsym(RTLD_NEXT, "hsa_amd_profiling_get_async_copy_time");
  return getenv("HSA_MODEL_TIMES") ? answer(signal, times) : next(signal, times);
}
