// late_unwinder LIBRARY ROUNDS: a program without an unwinder calls HIP, and then loads a C++ library. Exceptions of
// that library pass through the program's calls of HIP, from a place that fade knows already.
// late_unwinder churn ROUNDS: the unwinder is loaded and unloaded all the time, while threads call.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tracee.h"

typedef void (*callback)(void*);

static atomic_int ending;

static void nothing(void* arg) { (void)arg; }

__attribute__((noinline)) static void call(callback function) { hipLaunchHostFunc(NULL, function, NULL); }

static void* load(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  MUST(handle);
  return handle;
}

static void* work(void* arg) {
  while (!ending) some_calls(1);
  return arg;
}

static void churn(int rounds) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) MUST(!pthread_create(&threads[i], NULL, work, NULL));
  for (int i = 0; i < rounds; ++i) MUST(!dlclose(load("libgcc_s.so.1")));
  ending = 1;
  for (int i = 0; i < 3; ++i) MUST(!pthread_join(threads[i], NULL));
}

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 2, 1);
  MUST(argc > 2);
  for (int i = 0; i < 100; ++i) call(nothing);
  if (!strcmp(argv[1], "churn")) {
    churn(rounds);
    printf("churned\n");
    return 0;
  }
  int (*const catches)(void (*)(callback), int) = dlsym(load(argv[1]), "catches");
  MUST(catches);
  printf("caught %d\n", catches(call, rounds));
}
