// A timer's handler calls HIP while the program is inside HIP; how often it fires differs, so it counts itself.
#include <signal.h>
#include <sys/time.h>

#include "tracee.h"

static volatile sig_atomic_t fired;

static void on_timer(int signal) {
  (void)signal;
  int device = -1;
  if (fired < 50 && hipGetDevice(&device) == hipSuccess && hipDeviceSynchronize() == hipSuccess) ++fired;
}

int main(void) {
  struct itimerval interval = {{0, 1000}, {0, 1000}};
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_timer, .sa_flags = SA_RESTART}, NULL);
  setitimer(ITIMER_REAL, &interval, NULL);
  while (fired < 50) some_calls(1);
  printf("fired %d times\n", (int)fired);
}
