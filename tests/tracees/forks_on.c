// forks_on: threads call while another thread forks children that call and leave by _exit, or by vfork and exec of
// nothing, until the end of standard input.
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static volatile int is_over;

static void* busy(void* arg) {
  while (!is_over) some_calls(1);
  return arg;
}

static int forked(int i) {
  const pid_t pid = fork();
  int status = 0;
  if (!pid) {
    for (int k = 0; k < 5; ++k) hipDeviceSynchronize();
    _exit(i % 100);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  return status == (i % 100) << 8;
}

static int vforked(void) {
  const pid_t pid = vfork();
  int status = 0;
  if (!pid) {
    hipDeviceSynchronize();
    execl("/nonexistent", "nothing", (char*)NULL);
    _exit(9);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  return status == 9 << 8;
}

int main(void) {
  pthread_t threads[2];
  struct pollfd input = {.fd = 0, .events = POLLIN};
  int wrong = 0;
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, busy, NULL);
  printf("ready\n");
  fflush(stdout);
  for (int i = 0; !poll(&input, 1, 0); ++i) wrong += !forked(i) + !vforked();
  is_over = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%d wrong\n", wrong);
  return 7;
}
