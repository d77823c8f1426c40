// Simulated devices, and what programs are told about them. FADE_STANDIN_DEVICES lists them by name, "none" for no
// device; a custom one is NAME/ARCH/MULTIPROCESSORS/WARP/MIB. The default is an RX 6800 XT and an RX 7900 XTX.
// With FADE_STANDIN_HIDES, HIP_VISIBLE_DEVICES or else CUDA_VISIBLE_DEVICES chooses some of them, as in HIP.
// FADE_STANDIN_BUSES lists their PCI buses, hexadecimal; by default they count from 3.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct device {
  char name[64], arch[32];
  int multiprocessors, threads_per_multiprocessor, warp, clock_khz, memory_khz, bus_bits, l2_bytes;
  uint64_t bytes;
};
static const struct device catalogue[] = {
    {"AMD Radeon RX 6800 XT", "gfx1030", 36, 2048, 32, 2575000, 1000000, 256, 4194304, 16ull << 30},
    {"AMD Radeon RX 7900 XTX", "gfx1100", 48, 2048, 32, 2482000, 1249000, 384, 6291456, 24ull << 30},
    {"AMD Radeon RX 7800 XT", "gfx1101", 30, 2048, 32, 2254000, 1218000, 256, 4194304, 16ull << 30},
    {"AMD Radeon RX 6600", "gfx1032", 14, 2048, 32, 2491000, 875000, 128, 2097152, 8ull << 30},
    {"AMD Instinct MI210", "gfx90a:sramecc+:xnack-", 104, 2048, 64, 1700000, 1600000, 4096, 8388608, 64ull << 30},
};
enum { most_devices = 16 };
static struct device devices[most_devices];
static int buses[most_devices];
static int device_count;
static __thread int current;

int standin_devices(void) { return device_count; }
int standin_current_device(void) { return current; }
uint64_t standin_device_bytes(int device) { return devices[device].bytes; }

static int find_in_catalogue(const char* text, struct device* out) {
  for (size_t i = 0; i < sizeof catalogue / sizeof *catalogue; ++i) {
    if (!strstr(catalogue[i].name, text)) continue;
    *out = catalogue[i];
    return 1;
  }
  return 0;
}

static void add_device(const char* text) {
  struct device* d = &devices[device_count];
  unsigned long long mib = 0;
  if (find_in_catalogue(text, d)) {
    ++device_count;
  } else if (*d = catalogue[0],
             sscanf(text, "%63[^/]/%31[^/]/%d/%d/%llu", d->name, d->arch, &d->multiprocessors, &d->warp, &mib) == 5) {
    d->bytes = mib << 20;
    ++device_count;
  }
}

// A list ends at the first number that no device has.
static void hide_devices(void) {
  const char *own = getenv("HIP_VISIBLE_DEVICES"), *cuda = getenv("CUDA_VISIBLE_DEVICES");
  const char* list = own && *own ? own : cuda;
  if (!getenv("FADE_STANDIN_HIDES") || !list || !*list) return;
  struct device seen[most_devices];
  int bus_of[most_devices], n = 0;
  for (char* end; n < most_devices; list = end + 1) {
    const long number = strtol(list, &end, 10);
    if (end == list || number < 0 || number >= device_count) break;
    seen[n] = devices[number];
    bus_of[n++] = buses[number];
    if (*end != ',') break;
  }
  memcpy(devices, seen, sizeof *seen * (size_t)n);
  memcpy(buses, bus_of, sizeof *bus_of * (size_t)n);
  device_count = n;
}

__attribute__((constructor)) static void start(void) {
  const char* wanted = getenv("FADE_STANDIN_DEVICES");
  char list[1024], *rest = NULL;
  snprintf(list, sizeof list, "%s", wanted ? wanted : "RX 6800 XT,RX 7900 XTX");
  for (char* one = strtok_r(list, ",", &rest); one && device_count < most_devices; one = strtok_r(NULL, ",", &rest))
    if (strcmp(one, "none")) add_device(one);
  char* bus = getenv("FADE_STANDIN_BUSES");
  for (int i = 0; i < most_devices; ++i) {
    buses[i] = bus && *bus ? (int)strtol(bus, &bus, 16) : 3 + i;
    bus += bus && *bus == ',';
  }
  hide_devices();
}

static hipError_t check_device(int device, const void* out) {
  if (!device_count) return standin_fail(hipErrorNoDevice);
  if (!out) return standin_fail(hipErrorInvalidValue);
  return device < 0 || device >= device_count ? standin_fail(hipErrorInvalidDevice) : hipSuccess;
}
#define CHECK(device, out)                                   \
  do {                                                       \
    const hipError_t error_ = check_device((device), (out)); \
    if (error_) return error_;                               \
  } while (0)

static int digit(char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; }
static size_t digits(const struct device* d) { return strcspn(d->arch + 3, ":"); }
static int minor_of(const struct device* d) { return digit(d->arch[3 + digits(d) - 2]); }
static int major_version(const struct device* d) {  // gfx1030 is 10.3, gfx90a is 9.0
  return digits(d) == 4 ? digit(d->arch[3]) * 10 + digit(d->arch[4]) : digit(d->arch[3]);
}

// Fields that both layouts have under the same name.
#define FILL_COMMON(p, d, ordinal)                                       \
  do {                                                                   \
    memset((p), 0, sizeof *(p));                                         \
    snprintf((p)->name, sizeof(p)->name, "%s", (d)->name);               \
    snprintf((p)->gcnArchName, sizeof(p)->gcnArchName, "%s", (d)->arch); \
    (p)->totalGlobalMem = (d)->bytes;                                    \
    (p)->sharedMemPerBlock = 65536;                                      \
    (p)->regsPerBlock = 65536;                                           \
    (p)->warpSize = (d)->warp;                                           \
    (p)->maxThreadsPerBlock = 1024;                                      \
    for (int i_ = 0; i_ < 3; ++i_) (p)->maxThreadsDim[i_] = 1024;        \
    (p)->maxGridSize[0] = 2147483647;                                    \
    (p)->maxGridSize[1] = (p)->maxGridSize[2] = 65536;                   \
    (p)->clockRate = (d)->clock_khz;                                     \
    (p)->memoryClockRate = (d)->memory_khz;                              \
    (p)->memoryBusWidth = (d)->bus_bits;                                 \
    (p)->totalConstMem = 2147483647;                                     \
    (p)->major = major_version(d);                                       \
    (p)->minor = minor_of(d);                                            \
    (p)->multiProcessorCount = (d)->multiprocessors;                     \
    (p)->l2CacheSize = (d)->l2_bytes;                                    \
    (p)->maxThreadsPerMultiProcessor = (d)->threads_per_multiprocessor;  \
    (p)->concurrentKernels = 1;                                          \
    (p)->pciBusID = buses[ordinal];                                      \
    (p)->cooperativeLaunch = 1;                                          \
    (p)->canMapHostMemory = 1;                                           \
    (p)->isLargeBar = 1;                                                 \
  } while (0)

HIP(hipError_t, hipGetDevicePropertiesR0600)(hipDeviceProp_tR0600* prop, int device) {
  ENTER(hipGetDevicePropertiesR0600);
  CHECK(device, prop);
  FILL_COMMON(prop, &devices[device], device);
  prop->regsPerMultiprocessor = 65536;
  prop->sharedMemPerMultiprocessor = 65536;
  prop->asyncEngineCount = 2;
  prop->memoryPoolsSupported = 1;
  memcpy(prop->uuid.bytes, "standin-gpu-0000", 16);
  prop->uuid.bytes[15] = (char)('0' + device);
  return hipSuccess;
}

HIP(hipError_t, hipGetDevicePropertiesR0000)(hipDeviceProp_tR0000* prop, int device) {
  ENTER(hipGetDevicePropertiesR0000);
  CHECK(device, prop);
  FILL_COMMON(prop, &devices[device], device);
  return hipSuccess;
}

// The unsuffixed symbol keeps the old layout in every release; 5.x has no other.
HIP(hipError_t, hipGetDeviceProperties)(hipDeviceProp_tR0000* prop, int device) {
  ENTER(hipGetDeviceProperties);
#ifdef STANDIN_BODIES
  CHECK(device, prop);
  FILL_COMMON(prop, &devices[device], device);
  return hipSuccess;
#else
  return hipGetDevicePropertiesR0000(prop, device);
#endif
}

HIP(hipError_t, hipChooseDeviceR0600)(int* device, const hipDeviceProp_tR0600* wanted) {
  ENTER(hipChooseDeviceR0600);
  CHECK(0, device);
  *device = wanted && wanted->totalGlobalMem > devices[0].bytes && device_count > 1 ? 1 : 0;
  return hipSuccess;
}

HIP(hipError_t, hipGetDeviceCount)(int* count) {
  ENTER(hipGetDeviceCount);
  if (!count) return standin_fail(hipErrorInvalidValue);
  *count = device_count;
  return device_count ? hipSuccess : standin_fail(hipErrorNoDevice);
}

HIP(hipError_t, hipGetDevice)(int* device) {
  ENTER(hipGetDevice);
  CHECK(current, device);
  *device = current;
  return hipSuccess;
}

HIP(hipError_t, hipSetDevice)(int device) {
  ENTER(hipSetDevice);
  CHECK(device, "");
  current = device;
  return hipSuccess;
}

HIP(hipError_t, hipDeviceGet)(hipDevice_t* device, int ordinal) {
  ENTER(hipDeviceGet);
  CHECK(ordinal, device);
  *device = ordinal;
  return hipSuccess;
}

static int attribute(const struct device* d, int what, int ordinal) {
  switch (what) {
    case hipDeviceAttributeClockRate: return d->clock_khz;
    case hipDeviceAttributeComputeCapabilityMajor: return major_version(d);
    case hipDeviceAttributeComputeCapabilityMinor: return minor_of(d);
    case hipDeviceAttributeMaxThreadsPerBlock: return 1024;
    case 57: return d->threads_per_multiprocessor;
    case hipDeviceAttributeMemoryBusWidth: return d->bus_bits;
    case 60: return d->memory_khz;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount: return d->multiprocessors;
    case 67: return buses[ordinal];
    case hipDeviceAttributeWarpSize: return d->warp;
    case 19: return d->l2_bytes;
  }
  return what >= 0 && what < 20000 ? 0 : -1;
}

HIP(hipError_t, hipDeviceGetAttribute)(int* value, hipDeviceAttribute_t what, int device) {
  ENTER(hipDeviceGetAttribute);
  CHECK(device, value);
  const int result = attribute(&devices[device], (int)what, device);
  if (result < 0) return standin_fail(hipErrorInvalidValue);
  *value = result;
  return hipSuccess;
}

HIP(hipError_t, hipDeviceGetName)(char* name, int length, hipDevice_t device) {
  ENTER(hipDeviceGetName);
  CHECK(device, name);
  if (length <= 0) return standin_fail(hipErrorInvalidValue);
  snprintf(name, (size_t)length, "%s", devices[device].name);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceTotalMem)(size_t* bytes, hipDevice_t device) {
  ENTER(hipDeviceTotalMem);
  CHECK(device, bytes);
  *bytes = devices[device].bytes;
  return hipSuccess;
}

HIP(hipError_t, hipMemGetInfo)(size_t* free_bytes, size_t* total_bytes) {
  ENTER(hipMemGetInfo);
  CHECK(current, free_bytes);
  if (!total_bytes) return standin_fail(hipErrorInvalidValue);
  *total_bytes = devices[current].bytes;
  *free_bytes = devices[current].bytes - standin_used_bytes(current);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceComputeCapability)(int* major, int* minor, hipDevice_t device) {
  ENTER(hipDeviceComputeCapability);
  CHECK(device, major);
  if (!minor) return standin_fail(hipErrorInvalidValue);
  *major = major_version(&devices[device]);
  *minor = minor_of(&devices[device]);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceGetPCIBusId)(char* text, int length, int device) {
  ENTER(hipDeviceGetPCIBusId);
  CHECK(device, text);
  if (length <= 0) return standin_fail(hipErrorInvalidValue);
  snprintf(text, (size_t)length, "0000:%02x:00.0", buses[device]);
  return hipSuccess;
}

HIP(hipError_t, hipDeviceGetUuid)(hipUUID* uuid, hipDevice_t device) {
  ENTER(hipDeviceGetUuid);
  CHECK(device, uuid);
  memcpy(uuid->bytes, "standin-gpu-0000", 16);
  uuid->bytes[15] = (char)('0' + device);
  return hipSuccess;
}

HIP(hipError_t, hipDriverGetVersion)(int* version) {
  ENTER(hipDriverGetVersion);
  if (!version) return standin_fail(hipErrorInvalidValue);
  *version = 60443484;
  return hipSuccess;
}

HIP(hipError_t, hipRuntimeGetVersion)(int* version) {
  ENTER(hipRuntimeGetVersion);
  if (!version) return standin_fail(hipErrorInvalidValue);
  *version = 60443484;
  return hipSuccess;
}
