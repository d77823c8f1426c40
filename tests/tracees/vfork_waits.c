// vfork_waits [threads [CALL]]: stands in vfork, where nothing interrupts it, until its child has read to the end of
// the input; then calls HIP. threads: another one calls meanwhile. CALL: the thread in vfork may not make this system
// call (by number) on pain of death. As in Python's subprocess the child has all signals blocked, and resets some.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "seccomp.h"

static atomic_int enough;

static void* busy(void* arg) {
  while (!enough) some_calls(1);
  return arg;
}

int main(int argc, char** argv) {
  pthread_t t;
  int status = 0;
  sigset_t every, before;
  some_calls(2);
  if (argc > 1) MUST(!pthread_create(&t, NULL, busy, NULL));
  if (argc > 2) forbid((unsigned)atoi(argv[2]), 0);
  printf("ready\n");
  fflush(stdout);
  sigfillset(&every);
  pthread_sigmask(SIG_BLOCK, &every, &before);
  const pid_t pid = vfork();
  if (!pid) {
    char c;
    ssize_t got;
    while ((got = read(STDIN_FILENO, &c, 1)) > 0) continue;
    if (got < 0) _exit(5);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    _exit(4);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  MUST(waitpid(pid, &status, 0) == pid);
  enough = 1;
  if (argc > 1) pthread_join(t, NULL);
  some_calls(2);
  printf("the child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 7;
}
