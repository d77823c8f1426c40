// Inside the stand-in ZLUDA: CUDA's driver API on the stand-in HIP, with the calls that ZLUDA makes for each function.
// Counted and made to fail like the HIP functions (standin.h, oracle.c, rules.c): the counts are files of its own.
#pragma once
#include "standin.h"

typedef int CUresult, CUdevice;
typedef struct cu_context* CUcontext;
typedef struct cu_module* CUmodule;
typedef struct cu_function* CUfunction;
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  cuda_version = 13000,
  cuda_major = 8,
  cuda_minor = 5,  // the capability that ZLUDA tells
};

// Programs hold these where HIP's own handles would be: the first field is what HIP knows.
struct cu_context {
  CUdevice device;
  unsigned flags;
  int retained;
};
struct cu_module {
  hipModule_t hip;
  struct cu_function* functions;
};
struct cu_function {
  hipFunction_t hip;
  struct cu_function* next;
};

#define CU(name)      \
  STANDIN_NAME(name); \
  HIP_VISIBILITY CUresult name
#define ENTER_CU(name)                                                                 \
  do {                                                                                 \
    const int injected_ = standin_enter(&name_of_##name, __builtin_return_address(0)); \
    if (injected_) return injected_;                                                   \
  } while (0)
#define NEEDS(pointer) \
  if (!(pointer)) return CUDA_ERROR_INVALID_VALUE
// HIP's error numbers are passed on as they are.
#define HIP_CALL(call)                       \
  do {                                       \
    const int error_ = (int)(call);          \
    if (error_ != hipSuccess) return error_; \
  } while (0)

// Answered without HIP.
#define ANSWERED(name)   \
  CU(name)(void) {       \
    ENTER_CU(name);      \
    return CUDA_SUCCESS; \
  }
// What ZLUDA exports and does not have.
#define UNSUPPORTED(name)            \
  CU(name)(void) {                   \
    ENTER_CU(name);                  \
    return CUDA_ERROR_NOT_SUPPORTED; \
  }
// Another name for the same body, as linkers leave it behind that fold identical code.
#define FOLDED(name, body) HIP_VISIBILITY CUresult name(void) __attribute__((alias(#body)))
