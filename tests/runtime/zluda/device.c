// Devices and contexts. ZLUDA tells an NVIDIA card's capability and driver version, HIP's everything else.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "zluda.h"

enum { most_devices = 16, most_contexts = 256, most_pushed = 16 };
static struct cu_context primary[most_devices], created[most_contexts];
static int created_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread CUcontext stack[most_pushed];
static __thread int depth;

static int is_context(CUcontext c) {
  return (c >= primary && c < primary + most_devices) || (c >= created && c < created + most_contexts);
}
static CUcontext current(void) { return depth ? stack[depth - 1] : NULL; }

CU(cuInit)(unsigned flags) {
  ENTER_CU(cuInit);
  hipDeviceProp_tR0600 prop;
  HIP_CALL(hipInit(flags));
  return hipGetDevicePropertiesR0600(&prop, 0);  // the architecture to compile for
}

CU(cuDriverGetVersion)(int* version) {
  ENTER_CU(cuDriverGetVersion);
  NEEDS(version);
  *version = cuda_version;
  return CUDA_SUCCESS;
}

CU(cuDeviceGetName)(char* name, int length, CUdevice device) {
  ENTER_CU(cuDeviceGetName);
  NEEDS(name);
  HIP_CALL(hipDeviceGetName(name, length, device));
  const size_t used = strlen(name);
  snprintf(name + used, (size_t)length - used, " [ZLUDA]");
  return CUDA_SUCCESS;
}

CU(cuDeviceComputeCapability)(int* major, int* minor, CUdevice device) {
  ENTER_CU(cuDeviceComputeCapability);
  (void)device;
  NEEDS(major && minor);
  *major = cuda_major;
  *minor = cuda_minor;
  return CUDA_SUCCESS;
}

CU(cuDeviceGetUuid_v2)(char* uuid, CUdevice device) {
  ENTER_CU(cuDeviceGetUuid_v2);
  NEEDS(uuid);
  memcpy(uuid, "standin-gpu-0000", 16);
  uuid[15] = (char)('0' + device);
  return CUDA_SUCCESS;
}

CU(cuDeviceGetLuid)(char* luid, unsigned* nodes, CUdevice device) {
  ENTER_CU(cuDeviceGetLuid);
  NEEDS(luid && nodes);
  hipDeviceProp_tR0600 prop;
  HIP_CALL(hipGetDevicePropertiesR0600(&prop, device));
  memcpy(luid, prop.luid, sizeof prop.luid);
  *nodes = prop.luidDeviceNodeMask;
  return CUDA_SUCCESS;
}

struct cu_properties {
  int max_threads_per_block, max_threads[3], max_grid[3], shared_bytes, constant_bytes, warp, pitch, registers, clock,
      texture_align;
};
CU(cuDeviceGetProperties)(struct cu_properties* out, CUdevice device) {
  ENTER_CU(cuDeviceGetProperties);
  NEEDS(out);
  hipDeviceProp_tR0600 prop;
  HIP_CALL(hipGetDevicePropertiesR0600(&prop, device));
  *out = (struct cu_properties){.max_threads_per_block = prop.maxThreadsPerBlock,
                                .shared_bytes = (int)prop.sharedMemPerBlock,
                                .constant_bytes = (int)prop.totalConstMem,
                                .warp = 32,
                                .registers = prop.regsPerBlock,
                                .clock = prop.clockRate};
  memcpy(out->max_threads, prop.maxThreadsDim, sizeof out->max_threads);
  memcpy(out->max_grid, prop.maxGridSize, sizeof out->max_grid);
  return CUDA_SUCCESS;
}

// Where an attribute comes from: a constant, HIP's attribute of another number, or a field of HIP's properties.
struct attribute {
  int cuda;
  enum { constant, asked, field, refused } from;
  int value;
};
static const struct attribute attributes[] = {
    {1, asked, 56},
    {2, asked, 26},
    {5, asked, 29},
    {10, constant, 32},
    {13, asked, 5},
    {16, asked, 63},
    {20, asked, 6},
    {27, field, offsetof(hipDeviceProp_tR0600, maxTexture2DLayered)},
    {33, asked, 67},
    {34, asked, 68},
    {35, constant, 0},
    {36, asked, 60},
    {37, asked, 59},
    {38, asked, 19},
    {39, asked, 57},
    {50, asked, 69},
    {75, constant, cuda_major},
    {76, constant, cuda_minor},
    {87, constant, 32},
    {92, refused, 0},
    {115, constant, 0},
    {120, field, offsetof(hipDeviceProp_tR0600, clusterLaunch)},
    {132, refused, 0},
    {148, refused, 0},
};
CU(cuDeviceGetAttribute)(int* value, int attribute, CUdevice device) {
  ENTER_CU(cuDeviceGetAttribute);
  NEEDS(value);
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    const struct attribute* a = &attributes[i];
    if (a->cuda != attribute) continue;
    if (a->from == refused) return CUDA_ERROR_INVALID_VALUE;
    if (a->from == asked) return hipDeviceGetAttribute(value, (hipDeviceAttribute_t)a->value, device);
    if (a->from == constant) {
      *value = a->value;
      return CUDA_SUCCESS;
    }
    hipDeviceProp_tR0600 prop;
    HIP_CALL(hipGetDevicePropertiesR0600(&prop, device));
    memcpy(value, (const char*)&prop + a->value, sizeof *value);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CU(cuDevicePrimaryCtxRetain)(CUcontext* out, CUdevice device) {
  ENTER_CU(cuDevicePrimaryCtxRetain);
  NEEDS(out);
  if (device < 0 || device >= most_devices) return CUDA_ERROR_INVALID_DEVICE;
  *out = &primary[device];
  primary[device].device = device;
  __atomic_add_fetch(&primary[device].retained, 1, __ATOMIC_RELAXED);
  return CUDA_SUCCESS;
}

static CUresult release(CUdevice device) {
  if (device < 0 || device >= most_devices || primary[device].retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  __atomic_sub_fetch(&primary[device].retained, 1, __ATOMIC_RELAXED);
  return CUDA_SUCCESS;
}
CU(cuDevicePrimaryCtxRelease_v2)(CUdevice device) {
  ENTER_CU(cuDevicePrimaryCtxRelease_v2);
  return release(device);
}
CU(cuDevicePrimaryCtxRelease)(CUdevice device) {
  ENTER_CU(cuDevicePrimaryCtxRelease);
  return release(device);
}

CU(cuDevicePrimaryCtxGetState)(CUdevice device, unsigned* flags, int* active) {
  ENTER_CU(cuDevicePrimaryCtxGetState);
  NEEDS(flags && active);
  if (device < 0 || device >= most_devices) return CUDA_ERROR_INVALID_DEVICE;
  *flags = primary[device].flags;
  *active = primary[device].retained > 0;
  return CUDA_SUCCESS;
}

static CUresult create(CUcontext* out, unsigned flags, CUdevice device) {
  NEEDS(out);
  if (device < 0 || device >= most_devices) return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock(&lock);
  CUcontext c = created_count < most_contexts ? &created[created_count++] : NULL;
  pthread_mutex_unlock(&lock);
  if (!c || depth == most_pushed) return hipErrorOutOfMemory;
  *c = (struct cu_context){device, flags, 1};
  *out = stack[depth++] = c;
  return CUDA_SUCCESS;
}
CU(cuCtxCreate_v2)(CUcontext* out, unsigned flags, CUdevice device) {
  ENTER_CU(cuCtxCreate_v2);
  return create(out, flags, device);
}
CU(cuCtxCreate_v4)(CUcontext* out, void* parameters, unsigned flags, CUdevice device) {
  ENTER_CU(cuCtxCreate_v4);
  (void)parameters;
  return create(out, flags, device);
}

CU(cuCtxDestroy_v2)(CUcontext context) {
  ENTER_CU(cuCtxDestroy_v2);
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (current() == context) --depth;
  return CUDA_SUCCESS;
}

static CUresult push(CUcontext context) {
  if (!is_context(context) || depth == most_pushed) return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}
CU(cuCtxPushCurrent_v2)(CUcontext context) {
  ENTER_CU(cuCtxPushCurrent_v2);
  return push(context);
}
CU(cuCtxPushCurrent)(CUcontext context) {
  ENTER_CU(cuCtxPushCurrent);
  return push(context);
}

static CUresult pop(CUcontext* out) {
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  --depth;
  if (out) *out = stack[depth];
  return CUDA_SUCCESS;
}
CU(cuCtxPopCurrent_v2)(CUcontext* out) {
  ENTER_CU(cuCtxPopCurrent_v2);
  return pop(out);
}
CU(cuCtxPopCurrent)(CUcontext* out) {
  ENTER_CU(cuCtxPopCurrent);
  const CUresult error = pop(out);
  return error || !depth ? error : (CUresult)hipSetDevice(current()->device);
}

CU(cuCtxSetCurrent)(CUcontext context) {
  ENTER_CU(cuCtxSetCurrent);
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  depth = context != NULL;
  stack[0] = context;
  return context ? (CUresult)hipSetDevice(context->device) : CUDA_SUCCESS;
}

CU(cuCtxGetCurrent)(CUcontext* out) {
  ENTER_CU(cuCtxGetCurrent);
  NEEDS(out);
  *out = current();
  return CUDA_SUCCESS;
}

static CUresult device_of(CUdevice* out, CUcontext context) {
  NEEDS(out);
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  *out = context->device;
  return CUDA_SUCCESS;
}
CU(cuCtxGetDevice)(CUdevice* out) {
  ENTER_CU(cuCtxGetDevice);
  return device_of(out, current());
}
CU(cuCtxGetDevice_v2)(CUdevice* out, CUcontext context) {
  ENTER_CU(cuCtxGetDevice_v2);
  return device_of(out, context ? context : current());
}

CU(cuCtxGetApiVersion)(CUcontext context, unsigned* version) {
  ENTER_CU(cuCtxGetApiVersion);
  (void)context;
  NEEDS(version);
  *version = 3020;
  return CUDA_SUCCESS;
}

CU(cuCtxSynchronize_v2)(CUcontext context) {
  ENTER_CU(cuCtxSynchronize_v2);
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  int before = 0;
  HIP_CALL(hipGetDevice(&before));
  HIP_CALL(hipSetDevice(context->device));
  HIP_CALL(hipDeviceSynchronize());
  return hipSetDevice(before);
}
