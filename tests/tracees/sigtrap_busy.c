// sigtrap_busy: four threads call all the time with every signal blocked; then the program sends itself a SIGTRAP and
// takes it from a signalfd, while they go on.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/signalfd.h>

#include "tracee.h"

static atomic_int ending;

static void* work(void* rounds) {
  while (!ending) {
    some_calls(1);
    ++*(atomic_int*)rounds;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  atomic_int rounds[4] = {0};
  struct signalfd_siginfo told = {0};
  sigset_t all, now;
  sigfillset(&all);
  MUST(!pthread_sigmask(SIG_BLOCK, &all, NULL));
  const int fd = signalfd(-1, &all, 0);
  for (int i = 0; i < 4; ++i) MUST(!pthread_create(&threads[i], NULL, work, &rounds[i]));
  for (int i = 0; i < 4; ++i)
    while (rounds[i] < 5) usleep(1000);
  MUST(!kill(getpid(), SIGTRAP));
  MUST(read(fd, &told, sizeof told) == sizeof told);
  for (int i = 0; i < 4; ++i)
    for (const int before = rounds[i]; rounds[i] < before + 5;) usleep(1000);
  ending = 1;
  for (int i = 0; i < 4; ++i) MUST(!pthread_join(threads[i], NULL));
  MUST(!pthread_sigmask(SIG_BLOCK, NULL, &now));
  printf("signal %d from %s, blocked %d\n", (int)told.ssi_signo, told.ssi_pid == (uint32_t)getpid() ? "me" : "somebody",
         sigismember(&now, SIGTRAP));
}
