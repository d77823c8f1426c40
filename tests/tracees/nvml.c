// nvml [hip]: asks NVML what programs ask of it, by the name that every one of them loads. hip: counts HIP's devices
// too, launches nothing.
#include <dlfcn.h>

#include "tracee.h"

// clang-format off
#define FUNCTIONS(X)                                                                                       \
  X(nvmlInit_v2, void) X(nvmlShutdown, void) X(nvmlSystemGetDriverVersion, char*, unsigned)                \
  X(nvmlDeviceGetCount_v2, unsigned*) X(nvmlDeviceGetHandleByIndex_v2, unsigned, void**)                   \
  X(nvmlDeviceGetName, void*, char*, unsigned) X(nvmlDeviceGetUUID, void*, char*, unsigned)                \
  X(nvmlDeviceGetMemoryInfo, void*, unsigned long long*) X(nvmlDeviceGetPciInfo_v3, void*, void*)          \
  X(nvmlDeviceGetCudaComputeCapability, void*, int*, int*) X(nvmlDeviceGetTemperature, void*, int, unsigned*)
// clang-format on
#define DECLARE(name, ...) static int (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)

static void ask(unsigned index) {
  void* device = NULL;
  char name[64] = "", uuid[80] = "";
  unsigned long long memory[3] = {0};
  struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
  } pci = {.text = ""};
  int major = 0, minor = 0, results = 0;
  unsigned degrees = 0;
  MUST(nvmlDeviceGetHandleByIndex_v2(index, &device) == 0);
  results = results * 10 + nvmlDeviceGetName(device, name, sizeof name);
  results = results * 10 + nvmlDeviceGetUUID(device, uuid, sizeof uuid);
  results = results * 10 + nvmlDeviceGetMemoryInfo(device, memory);
  results = results * 10 + nvmlDeviceGetPciInfo_v3(device, &pci);
  results = results * 10 + nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
  results = results * 10 + nvmlDeviceGetTemperature(device, 0, &degrees);
  printf("%u: results %d, '%s' '%s' %llu '%s' %d.%d\n", index, results, name, uuid, memory[0], pci.text, major, minor);
}

int main(int argc, char** argv) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  char version[80];
  unsigned count = 0;
  int offered = 0;
  MUST(library);
#define LOOK_UP(name, ...) MUST((name = dlsym(library, #name)));
  FUNCTIONS(LOOK_UP)
  if (argc > 1 && !strcmp(argv[1], "hip")) {
    (void)hipGetDeviceCount(&offered);
    hipDeviceProp_tR0600 properties;
    for (int i = 0; i < offered; ++i) HIP_OK(hipGetDevicePropertiesR0600(&properties, i));
    printf("HIP offers %d\n", offered);
  }
  MUST(nvmlInit_v2() == 0);
  MUST(nvmlSystemGetDriverVersion(version, sizeof version) == 0);
  MUST(nvmlDeviceGetCount_v2(&count) == 0);
  printf("NVML of driver %s counts %u\n", version, count);
  for (unsigned i = 0; i < count; ++i) ask(i);
  MUST(nvmlShutdown() == 0);
}
