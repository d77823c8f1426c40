// Marks ranges with roctx or NVTX, as its arguments say, one after the other: ranges libroctx64.so.4 push=step launch=2
// pop push=NAME, wide=NAME (as wchar_t), attributes (the name in a structure), pop, start=NAME, stop: of the range
// started last, in_thread: the next stop is made by a thread of its own, mark=NAME, launch=N, copy, alloc, sync: a call
// of HIP each. threads=N: N threads that push, launch and pop. helper=N: a thread that launches N times. fork: a child
// that pops, pushes and ends inside. exec=PROGRAM. kill: ends by a signal. again=N: does the words before once more, N
// times in all.
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <wchar.h>

#include "tracee.h"

extern const void* const handle __asm__("_Z5firstPfi");
const void* const handle = "first";

static int (*push)(const char*);
static int (*push_wide)(const wchar_t*);
static int (*push_attributes)(const void*);
static int (*pop)(void);
static unsigned long long (*start)(const char*);
static void (*stop)(unsigned long long);
static void (*mark)(const char*);
static unsigned long long id;
static int in_thread;

static void find(const char* library) {
  void* const l = dlopen(library, RTLD_NOW);
  MUST(l);
  const int nvtx = dlsym(l, "nvtxRangePushA") != NULL;
  *(void**)&push = dlsym(l, nvtx ? "nvtxRangePushA" : "roctxRangePushA");
  *(void**)&push_wide = dlsym(l, "nvtxRangePushW");
  *(void**)&push_attributes = dlsym(l, "nvtxRangePushEx");
  *(void**)&pop = dlsym(l, nvtx ? "nvtxRangePop" : "roctxRangePop");
  *(void**)&start = dlsym(l, nvtx ? "nvtxRangeStartA" : "roctxRangeStartA");
  *(void**)&stop = dlsym(l, nvtx ? "nvtxRangeEnd" : "roctxRangeStop");
  *(void**)&mark = dlsym(l, nvtx ? "nvtxMarkA" : "roctxMarkA");
  MUST(push && pop && start && stop && mark);
}

static void know_kernel(void) {
  void** modules = __hipRegisterFatBinary("");
  __hipRegisterFunction(modules, &handle, "_Z5firstPfi", "_Z5firstPfi", ~0u, NULL, NULL, NULL, NULL, NULL);
}

static void launch(long times) {
  for (long i = 0; i < times; ++i) HIP_OK(hipLaunchKernel(&handle, (dim3){4, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL));
}

static void copy(void) {
  void* memory = NULL;
  char text[256] = "";
  HIP_OK(hipMalloc(&memory, sizeof text));
  HIP_OK(hipMemcpy(memory, text, sizeof text, hipMemcpyHostToDevice));
  HIP_OK(hipFree(memory));
}

static void* work(void* times) {
  if (!times) push("worker");
  launch(times ? (long)times : 1);
  if (!times) pop();
  return NULL;
}
static void* stop_it(void* unused) {
  stop(id);
  return unused;
}

static void run_threads(long n, void* (*what)(void*), void* argument) {
  pthread_t threads[64];
  for (long i = 0; i < n && i < 64; ++i) MUST(pthread_create(&threads[i], NULL, what, argument) == 0);
  for (long i = 0; i < n && i < 64; ++i) pthread_join(threads[i], NULL);
}

static void forked(void) {
  const pid_t child = fork();
  if (child == 0) {
    pop();  // of what its parent pushed
    push("of the child");
    launch(1);
    _exit(0);
  }
  MUST(waitpid(child, NULL, 0) == child);
}

static void do_word(const char* word) {
  const char* const equals = strchr(word, '=');
  const char* const value = equals ? equals + 1 : "";
  const long n = equals ? atol(value) : 1;
  void* memory = NULL;
  char text[256] = "";
  wchar_t wide[64] = L"";
  if (!strncmp(word, "push=", 5)) push(value);
  if (!strncmp(word, "wide=", 5)) MUST(mbstowcs(wide, value, 63) != (size_t)-1 && push_wide(wide) >= 0);
  if (!strcmp(word, "attributes")) push_attributes(text);
  if (!strcmp(word, "pop")) pop();
  if (!strncmp(word, "start=", 6)) id = start(value);
  if (!strcmp(word, "in_thread")) in_thread = 1;
  if (!strcmp(word, "stop") && in_thread) run_threads(1, stop_it, NULL);
  else if (!strcmp(word, "stop")) stop(id);
  if (!strncmp(word, "mark=", 5)) mark(value);
  if (!strncmp(word, "launch", 6)) launch(n);
  if (!strcmp(word, "alloc")) HIP_OK(hipMalloc(&memory, 4096));
  if (!strcmp(word, "copy")) copy();
  if (!strcmp(word, "sync")) HIP_OK(hipDeviceSynchronize());
  if (!strncmp(word, "threads=", 8)) run_threads(n, work, NULL);
  if (!strncmp(word, "helper=", 7)) run_threads(1, work, (void*)n);
  if (!strcmp(word, "fork")) forked();
  if (!strncmp(word, "exec=", 5)) execl(value, value, NULL);
  if (!strcmp(word, "kill")) raise(SIGKILL);
}

int main(int argc, char** argv) {
  MUST(argc > 1);
  setlocale(LC_CTYPE, "");
  find(argv[1]);
  for (int i = 2; i < argc; ++i)
    if (strchr("lthf", argv[i][0])) {  // launches in some thread
      know_kernel();
      break;
    }
  for (int i = 2; i < argc; ++i) {
    do_word(argv[i]);
    if (strncmp(argv[i], "again=", 6)) continue;
    for (long n = atol(argv[i] + 6); n > 1; --n)
      for (int k = 2; k < i; ++k) do_word(argv[k]);
  }
  printf("marked\n");
  return 0;
}
