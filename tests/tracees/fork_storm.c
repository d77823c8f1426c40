// Threads call while another thread forks children that call and leave by _exit.
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static void* busy(void* arg) {
  some_calls(100);
  return arg;
}

int main(void) {
  pthread_t t[3];
  int bad = 0;
  for (int i = 0; i < 3; ++i) pthread_create(&t[i], NULL, busy, NULL);
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = fork();
    if (!pid) {
      for (int k = 0; k < 5; ++k) hipDeviceSynchronize();
      _exit(i);
    }
    int status = 0;
    MUST(waitpid(pid, &status, 0) == pid);
    bad += WEXITSTATUS(status) != i;
  }
  for (int i = 0; i < 3; ++i) pthread_join(t[i], NULL);
  printf("forked, %d wrong\n", bad);
}
