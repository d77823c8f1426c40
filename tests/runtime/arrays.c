// Arrays: their handle is a block of memory that says how large they are.
#include <stdlib.h>

#include "standin.h"

enum { alive = 0x41525259 };
struct hipArray {
  int state, device;
  size_t bytes;
};

static hipError_t create(void** out, uint64_t element, size_t width, size_t height, size_t depth, unsigned levels) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!out || !element || !width || !levels) return standin_fail(hipErrorInvalidValue);
  size_t bytes = 0;
  for (unsigned level = 0; level < levels && level < 32; ++level) {
    const size_t w = width >> level, h = height >> level, d = depth >> level;
    bytes += element * (w ? w : 1) * (h ? h : 1) * (d ? d : 1);
  }
  const int device = standin_current_device();
  if (!standin_fits(device, bytes)) return standin_out_of_memory();
  struct hipArray* array = malloc(sizeof *array);
  if (!array) return standin_fail(hipErrorOutOfMemory);
  *array = (struct hipArray){alive, device, bytes};
  standin_take(device, 0, bytes, bytes);
  *out = array;
  return hipSuccess;
}

// The handle itself is never given back: that it is freed twice must be seen.
static hipError_t destroy(void* handle) {
  struct hipArray* array = handle;
  if (!array || array->state != alive) return standin_fail(hipErrorInvalidValue);
  array->state = 0;
  standin_give(array->device, 0, array->bytes, array->bytes);
  return hipSuccess;
}

static uint64_t element_of(const hipChannelFormatDesc* d) { return d ? (uint64_t)(d->x + d->y + d->z + d->w) / 8 : 0; }
static uint64_t channel_of(unsigned format) {
  const uint64_t sizes[] = {0, 1, 2, 4};
  return format == 0x20 ? 4 : format == 0x10 ? 2 : sizes[format & 3];
}

HIP(hipError_t, hipMallocArray)
(hipArray_t* out, const hipChannelFormatDesc* desc, size_t width, size_t height, unsigned flags) {
  ENTER(hipMallocArray);
  (void)flags;
  return create((void**)out, element_of(desc), width, height, 0, 1);
}

HIP(hipError_t, hipMalloc3DArray)(hipArray_t* out, const hipChannelFormatDesc* desc, hipExtent extent, unsigned flags) {
  ENTER(hipMalloc3DArray);
  (void)flags;
  return create((void**)out, element_of(desc), extent.width, extent.height, extent.depth, 1);
}

HIP(hipError_t, hipArrayCreate)(hipArray_t* out, const HIP_ARRAY_DESCRIPTOR* desc) {
  ENTER(hipArrayCreate);
  if (!desc) return standin_fail(hipErrorInvalidValue);
  return create((void**)out, channel_of(desc->Format) * desc->NumChannels, desc->Width, desc->Height, 0, 1);
}

HIP(hipError_t, hipArray3DCreate)(hipArray_t* out, const HIP_ARRAY3D_DESCRIPTOR* desc) {
  ENTER(hipArray3DCreate);
  if (!desc) return standin_fail(hipErrorInvalidValue);
  return create((void**)out, channel_of(desc->Format) * desc->NumChannels, desc->Width, desc->Height, desc->Depth, 1);
}

HIP(hipError_t, hipMallocMipmappedArray)
(hipMipmappedArray_t* out, const hipChannelFormatDesc* desc, hipExtent extent, unsigned levels, unsigned flags) {
  ENTER(hipMallocMipmappedArray);
  (void)flags;
  return create((void**)out, element_of(desc), extent.width, extent.height, extent.depth, levels);
}

HIP(hipError_t, hipFreeArray)(hipArray_t array) {
  ENTER(hipFreeArray);
  return destroy(array);
}

HIP(hipError_t, hipArrayDestroy)(hipArray_t array) {
  ENTER(hipArrayDestroy);
  return destroy(array);
}

HIP(hipError_t, hipFreeMipmappedArray)(hipMipmappedArray_t array) {
  ENTER(hipFreeMipmappedArray);
  return destroy(array);
}
