// Fibers switch stacks inside calls of HIP, come back in another order, and one of them moves to another thread.
#include <pthread.h>
#include <ucontext.h>

#include "tracee.h"

enum { fibers = 4 };
static ucontext_t contexts[fibers];
static __thread ucontext_t home;
static char stacks[fibers][1 << 17];
static int done[fibers];

// Noinline and without thread-local caching: the fiber may wake up in another thread.
__attribute__((noinline, noclone)) static ucontext_t* current_home(void) {
  ucontext_t* p = &home;
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}

static void leave_inside(void* arg) { swapcontext(&contexts[(intptr_t)arg], current_home()); }

static void body(int n) {
  for (int i = 0; i < 5; ++i) {
    some_calls(1);
    HIP_OK(hipLaunchHostFunc(NULL, leave_inside, (void*)(intptr_t)n));
  }
  done[n] = 1;
  setcontext(current_home());
}

static void enter(int n) { swapcontext(current_home(), &contexts[n]); }

static void* elsewhere(void* arg) {
  while (!done[0]) enter(0);
  return arg;
}

int main(void) {
  for (int n = 0; n < fibers; ++n) {
    getcontext(&contexts[n]);
    contexts[n].uc_stack.ss_sp = stacks[n];
    contexts[n].uc_stack.ss_size = sizeof stacks[n];
    makecontext(&contexts[n], (void (*)(void))body, 1, n);
  }
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < fibers; ++n) enter((n * 3 + round) % fibers);
  pthread_t t;
  pthread_create(&t, NULL, elsewhere, NULL);
  pthread_join(t, NULL);
  for (int n = 1; n < fibers; ++n)
    while (!done[n]) enter(n);
  some_calls(2);
  printf("fibers %d %d %d %d\n", done[0], done[1], done[2], done[3]);
}
