// vanished HOW ROUNDS [THREADS]: calls HIP, takes fade's breakpoints out of the runtime's text, and calls on.
// wiped: MADV_DONTNEED; mapped: the file is mapped over its text once more; rewritten: the file's bytes are written
// there; replaced: other code is written over hipMalloc.
// Prints "gone" when that is done, and "done" at the end. It calls ROUNDS times before, ROUNDS times at once, and
// ROUNDS times for each line that it reads. THREADS call all the time, and then each line takes the breakpoints out
// again.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "tracee.h"

struct text {
  char path[512];
  uintptr_t begin, end;
  long offset;
};

// The runtime's code, which hipMalloc is in.
static struct text runtime_text(void) {
  struct text t;
  char line[1024], mode[8];
  const uintptr_t inside = (uintptr_t)dlsym(RTLD_DEFAULT, "hipMalloc");
  FILE* maps = fopen("/proc/self/maps", "r");
  MUST(maps && inside);
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &t.begin, &t.end, mode, (unsigned long*)&t.offset, t.path) == 5 &&
        t.begin <= inside && inside < t.end) {
      fclose(maps);
      return t;
    }
  MUST(!"the runtime is mapped");
  return t;
}

static void map_again(const struct text* t) {
  const int file = open(t->path, O_RDONLY);
  MUST(file >= 0);
  MUST(mmap((void*)t->begin, t->end - t->begin, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, t->offset) ==
       (void*)t->begin);
  close(file);
}

static void write_file_over(const struct text* t) {
  const size_t size = t->end - t->begin;
  char* bytes = calloc(1, size);
  const int file = open(t->path, O_RDONLY);
  MUST(bytes && file >= 0 && pread(file, bytes, size, t->offset) > 0);
  MUST(!mprotect((void*)t->begin, size, PROT_READ | PROT_WRITE | PROT_EXEC));
  memcpy((void*)t->begin, bytes, size);
  MUST(!mprotect((void*)t->begin, size, PROT_READ | PROT_EXEC));
  close(file);
  free(bytes);
}

static hipError_t other_malloc(void** p, size_t size) {
  *p = malloc(size);
  return *p ? hipSuccess : hipErrorOutOfMemory;
}

// Twelve bytes: movabs $other_malloc, %rax; jmp *%rax.
static void replace_malloc(const struct text* t) {
  unsigned char code[12] = {0x48, 0xB8};
  hipError_t (*const other)(void**, size_t) = other_malloc;
  memcpy(code + 2, &other, 8);
  memcpy(code + 10, "\xFF\xE0", 2);
  MUST(!mprotect((void*)t->begin, t->end - t->begin, PROT_READ | PROT_WRITE | PROT_EXEC));
  memcpy(dlsym(RTLD_DEFAULT, "hipMalloc"), code, sizeof code);
  MUST(!mprotect((void*)t->begin, t->end - t->begin, PROT_READ | PROT_EXEC));
}

static int is_replaced;

static void take_out(const char* how) {
  const struct text t = runtime_text();
  if (!strcmp(how, "wiped")) MUST(!madvise((void*)t.begin, t.end - t.begin, MADV_DONTNEED));
  if (!strcmp(how, "mapped")) map_again(&t);
  if (!strcmp(how, "rewritten")) write_file_over(&t);
  if (!strcmp(how, "replaced")) replace_malloc(&t);
  is_replaced = !strcmp(how, "replaced");
}

static void call(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* p = NULL;
    HIP_OK(hipMalloc(&p, 64));
    HIP_OK(hipDeviceSynchronize());
    if (!is_replaced) HIP_OK(hipFree(p));
  }
}

static atomic_int ending;

static void* call_on(void* arg) {
  while (!ending) call(1);
  return arg;
}

int main(int argc, char** argv) {
  char line[16];
  const int rounds = number(argc, argv, 2, 10);
  const int count = number(argc, argv, 3, 0);
  pthread_t threads[16];
  MUST(argc > 1 && count <= 16);
  for (int i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], NULL, call_on, NULL));
  call(rounds);
  take_out(argv[1]);
  call(rounds);
  printf("gone\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (count > 0) take_out(argv[1]);
    call(rounds);
  }
  ending = 1;
  for (int i = 0; i < count; ++i) MUST(!pthread_join(threads[i], NULL));
  printf("done\n");
  return 5;
}
