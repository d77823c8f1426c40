// Inside the stand-in runtime: how a function is defined, counted and made to fail.
// Every HIP(type, name)(...) body is reached from exactly one exported entry; the entries are generated (Standin.cmake)
// or, with STANDIN_BODIES, the bodies are themselves exported as in AMD's 5.x.
#pragma once
#define HIP_STANDIN_IMPLEMENTATION
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#ifdef STANDIN_BODIES
#define HIP_VISIBILITY __attribute__((visibility("default")))
#define HIP_BODY(name) name
#else
#define HIP_VISIBILITY __attribute__((visibility("hidden")))
#define HIP_BODY(name) standin_##name
#endif

// Names stand in a section of their own, so that the linker numbers them; the number indexes the counters.
struct standin_name {
  const char* text;
};
#define STANDIN_NAME(name) \
  static const struct standin_name name_of_##name __attribute__((section("standin_names"), used)) = {#name}
#define HIP(type, name) \
  STANDIN_NAME(name);   \
  HIP_VISIBILITY type HIP_BODY(name)

// A body for a name that nothing here needs: it counts the call and succeeds. The C name differs from the symbol,
// because the symbol may have a prototype.
#define STANDIN_TEXT(x) STANDIN_TEXT_(x)
#define STANDIN_TEXT_(x) #x
#define TRIVIAL(name)                                                                   \
  STANDIN_NAME(name);                                                                   \
  HIP_VISIBILITY hipError_t trivial_##name(void) __asm__(STANDIN_TEXT(HIP_BODY(name))); \
  hipError_t trivial_##name(void) {                                                     \
    ENTER(name);                                                                        \
    return hipSuccess;                                                                  \
  }

// First statement of every body: counts the call and returns where the environment asks for a failure.
#define ENTER(name)                                                                    \
  do {                                                                                 \
    const int injected_ = standin_enter(&name_of_##name, __builtin_return_address(0)); \
    if (injected_) return standin_fail((hipError_t)injected_);                         \
  } while (0)
#define ENTER_PLAIN(name) ((void)standin_enter(&name_of_##name, __builtin_return_address(0)))

// oracle.c: counters in a file shared with whoever reads them, so that they outlive crashes, exec and _exit.
int standin_enter(const struct standin_name* name, void* caller);
// rules.c: FADE_STANDIN_FAIL and FADE_STANDIN_DELAY. Returns the error to inject, or 0.
extern int standin_rules;
int standin_apply_rules(const char* name);
// error.c: the thread's last error.
hipError_t standin_fail(hipError_t error);
// device.c
int standin_devices(void);
int standin_current_device(void);
uint64_t standin_device_bytes(int device);
// stream.c
int standin_is_stream(hipStream_t stream);
void standin_enqueue(hipStream_t stream);
// graph.c: puts a launch into the graph that the stream is captured into; 0: it is not, and the kernel runs.
hipGraph_t standin_capture(hipStream_t stream);
void standin_set_capture(hipStream_t stream, hipGraph_t graph);
void standin_end_capture(hipGraph_t graph);
// A kernel launch as it is checked and counted, or kept in a graph.
struct standin_launch {
  const char* name;
  dim3 grid, block;
};
int standin_captured(hipStream_t stream, const struct standin_launch* launch);
// launch.c: counts kernels that ran, by name and shape. With FADE_STANDIN_KERNELS=FILE a line "NAME GX GY GZ BX BY BZ
// RUNS" each is added to FILE when the process ends.
void standin_ran(const struct standin_launch* launch);
// The name behind a registered handle or a hipFunction_t; NULL: neither.
const char* standin_kernel_name(const void* kernel);
// work.c: the work as packets and copies of HSA, if there is one. A call that may put several to run is announced once.
void standin_new_call(void);
void standin_ran_on(const char* name, hipStream_t stream);
void standin_filled(size_t bytes, hipStream_t stream);
void standin_copied(void* to, const void* from, size_t bytes, hipStream_t stream);
// ledger.c: what is allocated, by device and whose memory it is; pinned memory and that of other processes take none of
// the device's. `asked`: without padding.
enum { standin_of_device, standin_of_host, standin_of_others, standin_kinds };
uint64_t standin_used_bytes(int device);
int standin_fits(int device, size_t bytes);
void standin_take(int device, int kind, size_t bytes, size_t asked);
void standin_give(int device, int kind, size_t bytes, size_t asked);
hipError_t standin_out_of_memory(void);
// memory.c: what hipFree takes, by its first byte.
enum { standin_nobodys = standin_kinds };  // a view of memory that is counted elsewhere
struct standin_block {
  uintptr_t address;
  size_t bytes, asked;
  int device, kind, of_graph, backed;
};
struct standin_block* standin_find(const void* ptr);
hipError_t standin_map(void** out, size_t bytes, int device, int kind);
// Memory of a graph has an address for as long as the process lives, and bytes behind it between a launch and a free.
hipError_t standin_reserve(void** out, size_t bytes, int device);
hipError_t standin_back(struct standin_block* block);
hipError_t standin_unback(struct standin_block* block);
hipError_t standin_release(void* ptr);
// graph.c: puts an allocation or free of a reserved address into the graph; 0: the stream is not captured.
int standin_captured_memory(hipStream_t stream, void* address, int frees);
