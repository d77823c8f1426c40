// System calls that signals would interrupt. Nothing sends one here, so none may return EINTR.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <time.h>

#include "tracee.h"

static int pipe_ends[2];

static void* busy(void* arg) {
  some_calls(300);
  usleep(20000);
  MUST(write(pipe_ends[1], "x", 1) == 1);
  return arg;
}

int main(void) {
  int interrupted = 0;
  char byte;
  struct epoll_event event;
  sem_t never;
  pthread_t t;
  MUST(!pipe(pipe_ends));
  sem_init(&never, 0, 0);
  const int epoll = epoll_create1(0);
  pthread_create(&t, NULL, busy, NULL);
  interrupted += read(pipe_ends[0], &byte, 1) < 0;
  for (int i = 0; i < 20; ++i) {
    struct timespec pause = {0, 2000000}, deadline;
    HIP_OK(hipDeviceSynchronize());
    interrupted += nanosleep(&pause, NULL) < 0;
    interrupted += poll(NULL, 0, 2) < 0;
    interrupted += epoll_wait(epoll, &event, 1, 2) < 0;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec = (deadline.tv_nsec + 2000000) % 1000000000;
    interrupted += sem_timedwait(&never, &deadline) < 0 && errno == EINTR;
  }
  pthread_join(t, NULL);
  printf("interrupted %d\n", interrupted);
}
