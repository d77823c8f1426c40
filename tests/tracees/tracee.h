// Shared by the tracees: one small program per behaviour. What they print is the same in every run, so that a
// supervised run can be compared with one that is not.
#pragma once
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Ends the program with the place, where something that cannot fail did.
#define MUST(condition)                                                   \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #condition); \
      exit(99);                                                           \
    }                                                                     \
  } while (0)
#define HIP_OK(call) MUST((call) == hipSuccess)

static inline int number(int argc, char** argv, int index, int otherwise) {
  return argc > index ? atoi(argv[index]) : otherwise;
}

// A few calls of every sort, all of which succeed.
static inline void some_calls(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* p = NULL;
    char text[8] = "seven..";
    int device = 0;
    HIP_OK(hipMalloc((void**)&p, 4096));
    HIP_OK(hipMemcpy(p, text, sizeof text, hipMemcpyHostToDevice));
    HIP_OK(hipMemset(p, 0, 64));
    HIP_OK(hipGetDevice(&device));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipFree(p));
  }
}
