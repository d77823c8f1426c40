// Every signal is blocked in threads that call HIP, as in many thread pools; their masks stay what they were.
#include <pthread.h>
#include <signal.h>

#include "tracee.h"

static void* work(void* arg) {
  sigset_t now;
  some_calls(50);
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  *(int*)arg = sigismember(&now, SIGTRAP) && sigismember(&now, SIGUSR1) && sigismember(&now, SIGRTMIN);
  return NULL;
}

int main(void) {
  pthread_t t[4];
  int intact[4] = {0};
  sigset_t all, now;
  sigfillset(&all);
  some_calls(5);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, work, &intact[i]);
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  some_calls(5);
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  printf("masks intact %d %d %d %d %d\n", intact[0], intact[1], intact[2], intact[3], sigismember(&now, SIGTRAP));
}
