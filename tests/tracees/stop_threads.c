// A process whose threads are all calling is stopped and continued again and again by its parent, then asked to finish.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tracee.h"

static volatile sig_atomic_t finish;
static void on_term(int signal) {
  (void)signal;
  finish = 1;
}
static void* busy(void* arg) {
  while (!finish) hipDeviceSynchronize();
  return arg;
}

static int child(void) {
  pthread_t t[4];
  signal(SIGTERM, on_term);
  for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, busy, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  return 12;
}

int main(void) {
  int status = 0, stopped = 0, continued = 0;
  const pid_t pid = fork();
  if (!pid) _exit(child());
  for (int i = 0; i < 10; ++i) {
    kill(pid, SIGSTOP);
    MUST(waitpid(pid, &status, WUNTRACED) == pid);
    stopped += WIFSTOPPED(status);
    kill(pid, SIGCONT);
    MUST(waitpid(pid, &status, WCONTINUED) == pid);
    continued += WIFCONTINUED(status);
    usleep(2000);
  }
  kill(pid, SIGTERM);
  MUST(waitpid(pid, &status, 0) == pid);
  printf("stopped %d continued %d exit %d\n", stopped, continued, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
