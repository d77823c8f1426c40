// Calls from 20,000 places each, as libraries of generated kernels make them, then work from few places: many_places
// HOW [LIBRARY].
//   register  __hipRegisterFunction     ask  hipPeekAtLastError     again  the same, twice
//   threads   the same, in four threads
// LIBRARY is loaded at the end, and roctxMarkA of it is called.
#include <dlfcn.h>
#include <pthread.h>

#include "tracee.h"

extern const void* const handle __asm__("_Z4manyv");
const void* const handle = "many";
static const char name[] = "_Z4manyv";
void register_from_many_places(void** modules, const void* handle, const char* name);
void ask_from_many_places(void);

__asm__(
    "        .text\n"
    "        .globl register_from_many_places, ask_from_many_places\n"
    "        .type register_from_many_places, @function\n"
    "register_from_many_places:\n"
    "        push %rbx\n"
    "        push %r12\n"
    "        push %r13\n"
    "        sub $48, %rsp\n"
    "        mov %rdi, %rbx\n"
    "        mov %rsi, %r12\n"
    "        mov %rdx, %r13\n"
    "        .rept 20000\n"
    "        mov %rbx, %rdi\n"
    "        mov %r12, %rsi\n"
    "        mov %r13, %rdx\n"
    "        mov %r13, %rcx\n"
    "        xor %r9d, %r9d\n"
    "        movups %xmm0, (%rsp)\n"
    "        movups %xmm0, 16(%rsp)\n"
    "        call __hipRegisterFunction@PLT\n"
    "        .endr\n"
    "        add $48, %rsp\n"
    "        pop %r13\n"
    "        pop %r12\n"
    "        pop %rbx\n"
    "        ret\n"
    "        .size register_from_many_places, . - register_from_many_places\n"
    "        .type ask_from_many_places, @function\n"
    "ask_from_many_places:\n"
    "        sub $8, %rsp\n"
    "        .rept 20000\n"
    "        call hipPeekAtLastError@PLT\n"
    "        .endr\n"
    "        add $8, %rsp\n"
    "        ret\n"
    "        .size ask_from_many_places, . - ask_from_many_places\n");

static void* ask(void* arg) {
  ask_from_many_places();
  return arg;
}

static void ask_in_threads(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; ++i) MUST(!pthread_create(&t[i], NULL, ask, NULL));
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
}

int main(int argc, char** argv) {
  MUST(argc > 1);
  if (!strcmp(argv[1], "register")) {
    void** modules = __hipRegisterFatBinary("");
    register_from_many_places(modules, &handle, name);
    HIP_OK(hipLaunchKernel(&handle, (dim3){1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL));
    __hipUnregisterFatBinary(modules);
  } else if (!strcmp(argv[1], "threads")) {
    ask_in_threads();
  } else {
    ask_from_many_places();
    if (!strcmp(argv[1], "again")) ask_from_many_places();
  }
  some_calls(10);
  void* library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
  void (*mark)(const char*) = library ? (void (*)(const char*))dlsym(library, "roctxMarkA") : NULL;
  if (argc > 2) MUST(mark);
  if (mark) mark("at the end");
  printf("called\n");
}
