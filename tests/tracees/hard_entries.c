// Only with the "hard" runtime: functions whose first instruction depends on where it runs, on flags or on rcx. Each
// tells by its result whether that instruction did its work. They are too short to count themselves.
#include <dlfcn.h>

#include "tracee.h"

static void (*add)(const char*, uint64_t);

// Calls with the flags and the rcx that the entry will look at.
static unsigned call(const char* name, unsigned long rcx, int carry, int zero) {
  void* function = dlsym(RTLD_DEFAULT, name);
  unsigned long flags = 2 | (unsigned long)carry | (unsigned long)zero << 6, result = 0xdead;
  MUST(function);
  __asm__ volatile("push %3\n\tpopfq\n\tcall *%4"
                   : "+a"(result), "+c"(rcx), "+d"(function)
                   : "r"(flags), "r"(function)
                   : "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
  add(name, 1);
  return (unsigned)result;
}

int main(void) {
  add = (void (*)(const char*, uint64_t))dlsym(RTLD_DEFAULT, "fade_standin_add");
  MUST(add);
  for (int round = 0; round < 3; ++round) {
    call("hipProfilerStop", 0, 0, 0);
    printf("xor %u\n", call("hipProfilerStart", 0, 0, 0));
    printf("jc %u %u, far %u %u\n", call("hipCtxGetFlags", 0, 1, 0), call("hipCtxGetFlags", 0, 0, 0),
           call("hipCtxGetCacheConfig", 0, 1, 0), call("hipCtxGetCacheConfig", 0, 0, 0));
    printf("jrcxz %u %u %u, jecxz %u %u %u\n", call("hipCtxSetCacheConfig", 0, 0, 0),
           call("hipCtxSetCacheConfig", 1, 0, 0), call("hipCtxSetCacheConfig", 1ul << 32, 0, 0),
           call("hipCtxSetSharedMemConfig", 0, 0, 0), call("hipCtxSetSharedMemConfig", 1, 0, 0),
           call("hipCtxSetSharedMemConfig", 1ul << 32, 0, 0));
    printf("loop %u %u\n", call("hipCtxGetSharedMemConfig", 5, 0, 0), call("hipCtxGetSharedMemConfig", 1, 0, 0));
    printf("loope %u %u, loopne %u %u\n", call("hipCtxDisablePeerAccess", 5, 0, 1),
           call("hipCtxDisablePeerAccess", 5, 0, 0), call("hipCtxEnablePeerAccess", 5, 0, 0),
           call("hipCtxEnablePeerAccess", 5, 0, 1));
    printf("call next %u, call %u, call memory %u\n", call("hipCtxSynchronize", 0, 0, 0),
           call("hipCtxGetDevice", 0, 0, 0), call("hipCtxGetCurrent", 0, 0, 0));
    printf("compare %u, store %u, jump %u, jump memory %u\n", call("hipCtxPopCurrent", 0, 0, 0),
           call("hipCtxPushCurrent", 0, 0, 0), call("hipCtxSetCurrent", 0, 0, 0), call("hipCtxDestroy", 0, 0, 0));
    printf("fs %u, lea %u\n", call("hipDeviceReset", 0, 0, 0), call("hipDeviceSetCacheConfig", 0, 0, 0));
  }
}
