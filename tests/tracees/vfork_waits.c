// vfork_waits [threads]: stands in vfork, where nothing interrupts it, until its child has read to the end of the input; then calls HIP.
// threads: another one calls meanwhile.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "tracee.h"

static atomic_int enough;

static void* busy(void* arg) {
  while (!enough) some_calls(1);
  return arg;
}

int main(int argc, char** argv) {
  pthread_t t;
  int status = 0;
  (void)argv;
  some_calls(2);
  if (argc > 1) MUST(!pthread_create(&t, NULL, busy, NULL));
  printf("ready\n");
  fflush(stdout);
  const pid_t pid = vfork();
  if (!pid) {
    char c;
    while (read(STDIN_FILENO, &c, 1) > 0) continue;
    _exit(4);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  enough = 1;
  if (argc > 1) pthread_join(t, NULL);
  some_calls(2);
  printf("the child ended with %d\n", WEXITSTATUS(status));
  return 7;
}
