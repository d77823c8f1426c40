// One thread sends a fixed number of queued real-time signals to another that is calling; none may get lost, order is
// kept.
#include <pthread.h>
#include <signal.h>

#include "tracee.h"

static volatile int received, disorder, ready;

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  disorder += info->si_value.sival_int != received;
  ++received;
  hipDeviceSynchronize();
}

static void* target(void* arg) {
  ready = 1;
  while (received < 500) hipPeekAtLastError();
  return arg;
}

int main(void) {
  pthread_t t;
  sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, NULL);
  pthread_create(&t, NULL, target, NULL);
  while (!ready) usleep(100);
  for (int i = 0; i < 500; ++i)
    while (pthread_sigqueue(t, SIGRTMIN, (union sigval){.sival_int = i})) usleep(100);
  pthread_join(t, NULL);
  printf("received %d, out of order %d\n", received, disorder);
}
