// Stand-ins for the libraries by which programs mark ranges: roctx (libroctx64, librocprofiler-sdk-roctx) or, with
// STANDIN_NVTX, NVTX (libnvToolsExt). With STANDIN_FORWARD every range is handed on to librocprofiler-sdk-roctx. They
// keep the levels and ids that the real ones answer with.
#include <dlfcn.h>
#include <stdatomic.h>
#include <wchar.h>

#include "standin.h"

static __thread int level;
static atomic_ullong last_id;

static int pushed(void) { return level++; }
static int popped(void) { return level > 0 ? --level : -1; }
static unsigned long long started(void) { return ++last_id; }

#ifdef STANDIN_FORWARD
static void* function_of(const char* name) {
  static void* library;
  if (!library) library = dlopen("librocprofiler-sdk-roctx.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}
#define HANDED_ON(type, name, ...) return ((type)function_of(#name))(__VA_ARGS__)
#else
#define HANDED_ON(type, name, ...) (void)0
#endif

#ifndef STANDIN_NVTX
HIP(int, roctxRangePushA)(const char* message) {
  ENTER_PLAIN(roctxRangePushA);
  HANDED_ON(int (*)(const char*), roctxRangePushA, message);
  (void)message;
  return pushed();
}
HIP(int, roctxRangePop)(void) {
  ENTER_PLAIN(roctxRangePop);
  HANDED_ON(int (*)(void), roctxRangePop);
  return popped();
}
HIP(unsigned long long, roctxRangeStartA)(const char* message) {
  ENTER_PLAIN(roctxRangeStartA);
  HANDED_ON(unsigned long long (*)(const char*), roctxRangeStartA, message);
  (void)message;
  return started();
}
HIP(void, roctxRangeStop)(unsigned long long id) {
  ENTER_PLAIN(roctxRangeStop);
  (void)id;
}
HIP(void, roctxMarkA)(const char* message) {
  ENTER_PLAIN(roctxMarkA);
  (void)message;
}
#else
HIP(int, nvtxRangePushA)(const char* message) {
  ENTER_PLAIN(nvtxRangePushA);
  (void)message;
  return pushed();
}
HIP(int, nvtxRangePushW)(const wchar_t* message) {
  ENTER_PLAIN(nvtxRangePushW);
  (void)message;
  return pushed();
}
HIP(int, nvtxRangePushEx)(const void* attributes) {
  ENTER_PLAIN(nvtxRangePushEx);
  (void)attributes;
  return pushed();
}
HIP(int, nvtxRangePop)(void) {
  ENTER_PLAIN(nvtxRangePop);
  return popped();
}
HIP(unsigned long long, nvtxRangeStartA)(const char* message) {
  ENTER_PLAIN(nvtxRangeStartA);
  (void)message;
  return started();
}
HIP(void, nvtxRangeEnd)(unsigned long long id) {
  ENTER_PLAIN(nvtxRangeEnd);
  (void)id;
}
HIP(void, nvtxMarkA)(const char* message) {
  ENTER_PLAIN(nvtxMarkA);
  (void)message;
}
#endif
