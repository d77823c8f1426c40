// Run-time compilation: the "code" is the source's length and a mark. As in AMD's, compiling asks the exported
// functions for the device's architecture.
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct _hiprtcProgram {
  size_t source_bytes;
  int compiled;
};

#define ENTER_RTC(name)                                                                \
  do {                                                                                 \
    const int injected_ = standin_enter(&name_of_##name, __builtin_return_address(0)); \
    if (injected_) return (hiprtcResult)injected_;                                     \
  } while (0)

HIP(const char*, hiprtcGetErrorString)(hiprtcResult result) {
  ENTER_PLAIN(hiprtcGetErrorString);
  return result == HIPRTC_SUCCESS             ? "HIPRTC_SUCCESS"
         : result == HIPRTC_ERROR_COMPILATION ? "HIPRTC_ERROR_COMPILATION"
                                              : "HIPRTC_ERROR_INVALID_INPUT";
}

HIP(hiprtcResult, hiprtcVersion)(int* major, int* minor) {
  ENTER_RTC(hiprtcVersion);
  if (!major || !minor) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;
  *minor = 0;
  return HIPRTC_SUCCESS;
}

HIP(hiprtcResult, hiprtcCreateProgram)
(hiprtcProgram* out, const char* source, const char* name, int headers, const char** header_sources,
 const char** header_names) {
  ENTER_RTC(hiprtcCreateProgram);
  (void)name, (void)headers, (void)header_sources, (void)header_names;
  if (!out || !source) return HIPRTC_ERROR_INVALID_INPUT;
  *out = calloc(1, sizeof **out);
  (*out)->source_bytes = strlen(source);
  return HIPRTC_SUCCESS;
}

HIP(hiprtcResult, hiprtcCompileProgram)(hiprtcProgram program, int options, const char** option_texts) {
  ENTER_RTC(hiprtcCompileProgram);
  (void)options, (void)option_texts;
  int device = 0;
  static __thread union {
    hipDeviceProp_tR0600 now;
    hipDeviceProp_tR0000 old;
  } prop;
  hipGetDevice(&device);
#ifdef STANDIN_OLD_LAYOUT
  hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000*, int);
  hipGetDeviceProperties(&prop.old, device);
#else
  hipGetDevicePropertiesR0600(&prop.now, device);
#endif
  if (!program || program->source_bytes == 0) return HIPRTC_ERROR_COMPILATION;
  program->compiled = 1;
  return HIPRTC_SUCCESS;
}

HIP(hiprtcResult, hiprtcGetCodeSize)(hiprtcProgram program, size_t* bytes) {
  ENTER_RTC(hiprtcGetCodeSize);
  if (!program || !bytes || !program->compiled) return HIPRTC_ERROR_INVALID_INPUT;
  *bytes = 16;
  return HIPRTC_SUCCESS;
}

HIP(hiprtcResult, hiprtcGetCode)(hiprtcProgram program, char* code) {
  ENTER_RTC(hiprtcGetCode);
  if (!program || !code || !program->compiled) return HIPRTC_ERROR_INVALID_INPUT;
  memcpy(code, "stand-in object", 16);
  return HIPRTC_SUCCESS;
}

HIP(hiprtcResult, hiprtcDestroyProgram)(hiprtcProgram* program) {
  ENTER_RTC(hiprtcDestroyProgram);
  if (!program || !*program) return HIPRTC_ERROR_INVALID_INPUT;
  free(*program);
  *program = NULL;
  return HIPRTC_SUCCESS;
}
