// The thread's last error, and the names and sentences of errors.
#include <string.h>

#include "standin.h"

static __thread hipError_t last_error;

hipError_t standin_fail(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

HIP(hipError_t, hipGetLastError)(void) {
  ENTER(hipGetLastError);
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

HIP(hipError_t, hipPeekAtLastError)(void) {
  ENTER(hipPeekAtLastError);
  return last_error;
}

static const char* name_of(hipError_t error) {
  switch ((int)error) {
#define X(value, name) \
  case value:          \
    return #name;
#include <hip/hip_errors.def>
#undef X
  }
  return "hipErrorUnknown";
}

HIP(const char*, hipGetErrorName)(hipError_t error) {
  ENTER_PLAIN(hipGetErrorName);
  return name_of(error);
}

HIP(const char*, hipGetErrorString)(hipError_t error) {
  ENTER_PLAIN(hipGetErrorString);
  switch ((int)error) {
    case hipSuccess: return "no error";
    case hipErrorInvalidValue: return "invalid argument";
    case hipErrorOutOfMemory: return "out of memory";
    case hipErrorNoDevice: return "no ROCm-capable device is detected";
    case hipErrorInvalidDevice: return "invalid device ordinal";
    case hipErrorNotReady: return "device not ready";
  }
  return name_of(error);
}

HIP(hipError_t, hipDrvGetErrorName)(hipError_t error, const char** text) {
  ENTER(hipDrvGetErrorName);
  if (!text) return standin_fail(hipErrorInvalidValue);
  *text = name_of(error);
  return hipSuccess;
}
