// keeps FORM THREADS: a program whose library keeps device properties (kept_properties.cpp), with busy and sleeping
// threads. It does what it is told by words on standard input, and answers each in a line. "show": what it keeps;
// "ask": what HIP says of device 0; "clock": changes a field of each copy; "forget": frees the copies; "fork": makes a
// child; "child": what the child keeps. Ends with 7 at the end of the input.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static void (*keep)(const char*), (*show)(char*, size_t), (*change)(int), (*forget)(void);
static int (*ask)(void);
static volatile int ending, born;
static int to_child[2] = {-1, -1}, from_child[2] = {-1, -1};
static pid_t child;

static void load(const char* self) {
  char path[4096];
  snprintf(path, sizeof path, "%.*s/libkept_properties.so", (int)(strrchr(self, '/') - self), self);
  void* library = dlopen(path, RTLD_NOW);
  MUST(library);
  *(void**)&keep = dlsym(library, "keep_properties");
  *(void**)&show = dlsym(library, "show_properties");
  *(void**)&change = dlsym(library, "change_clocks");
  *(void**)&ask = dlsym(library, "ask_multiprocessors");
  *(void**)&forget = dlsym(library, "forget_properties");
  MUST(keep && show && change && ask && forget);
}

// A busy thread computes for a part of the time: tests share two processors.
static void* work(void* busy) {
  __atomic_fetch_add(&born, 1, __ATOMIC_RELAXED);
  while (!ending) {
    for (volatile int i = 0; busy && i < 100000; ++i) continue;
    usleep(1000);
  }
  return NULL;
}

static void live_as_child(void) {
  char c, text[1024];
  while (read(to_child[0], &c, 1) == 1) {
    memset(text, 0, sizeof text);
    show(text, sizeof text);
    MUST(write(from_child[1], text, sizeof text) == sizeof text);
  }
  _exit(0);
}

static void make_child(void) {
  MUST(!pipe(to_child) && !pipe(from_child));
  child = fork();
  MUST(child >= 0);
  if (child) return;
  close(to_child[1]);
  live_as_child();
}

static void obey(const char* word) {
  char text[1024] = "";
  if (!strcmp(word, "show")) show(text, sizeof text);
  if (!strcmp(word, "clock")) change(1);
  if (!strcmp(word, "forget")) forget();
  if (!strcmp(word, "fork")) make_child();
  if (!strcmp(word, "child")) {
    MUST(write(to_child[1], "?", 1) == 1);
    MUST(read(from_child[0], text, sizeof text) == sizeof text);
  }
  if (!strcmp(word, "ask")) snprintf(text, sizeof text, " %d", ask());
  printf("%s%s\n", word, text);
  fflush(stdout);
}

int main(int argc, char** argv) {
  char word[32];
  pthread_t threads[64];
  const int count = number(argc, argv, 2, 2);
  MUST(argc > 1 && count <= 64);
  load(argv[0]);
  keep(argv[1]);
  for (int i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], NULL, work, i == 0 ? argv : NULL));
  while (born < count) usleep(1000);
  printf("ready\n");
  fflush(stdout);
  while (scanf("%31s", word) == 1) obey(word);
  ending = 1;
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  if (child) {
    close(to_child[1]);
    MUST(waitpid(child, NULL, 0) == child);
  }
  return 7;
}
