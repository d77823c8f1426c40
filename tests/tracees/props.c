// What a program is told about each device, on every path.
#include "tracee.h"

static void through_structures(int device) {
  hipDeviceProp_tR0600 now;
  hipDeviceProp_tR0000 old;
  HIP_OK(hipGetDevicePropertiesR0600(&now, device));
  HIP_OK(hipGetDevicePropertiesR0000(&old, device));
  printf("R0600 %s %s mp %d warp %d clock %d mem %zu bus %d\n", now.name, now.gcnArchName, now.multiProcessorCount,
         now.warpSize, now.clockRate, now.totalGlobalMem, now.pciBusID);
  printf("R0000 %s %s mp %d warp %d clock %d mem %zu bus %d\n", old.name, old.gcnArchName, old.multiProcessorCount,
         old.warpSize, old.clockRate, old.totalGlobalMem, old.pciBusID);
}

#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int device);

static void through_functions(int device) {
  struct {
    hipDeviceProp_tR0000 prop;
    char guard[64];
  } old;
  char name[64], bus[32];
  int mp, warp, major, minor;
  size_t bytes, left, total;
  memset(&old, 0x77, sizeof old);
  HIP_OK(hipGetDeviceProperties(&old.prop, device));
  HIP_OK(hipSetDevice(device));
  HIP_OK(hipDeviceGetName(name, sizeof name, device));
  HIP_OK(hipDeviceGetAttribute(&mp, hipDeviceAttributeMultiprocessorCount, device));
  HIP_OK(hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, device));
  HIP_OK(hipDeviceComputeCapability(&major, &minor, device));
  HIP_OK(hipDeviceTotalMem(&bytes, device));
  HIP_OK(hipMemGetInfo(&left, &total));
  HIP_OK(hipDeviceGetPCIBusId(bus, sizeof bus, device));
  printf("unsuffixed mp %d, 64 bytes behind it %s\n", old.prop.multiProcessorCount,
         old.guard[0] == 0x77 && old.guard[63] == 0x77 ? "untouched" : "OVERWRITTEN");
  printf("functions %s mp %d warp %d cc %d.%d mem %zu %zu bus %s\n", name, mp, warp, major, minor, bytes, total, bus);
}

int main(void) {
  int count = 0;
  HIP_OK(hipGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    through_structures(i);
    through_functions(i);
  }
}
