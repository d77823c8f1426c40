// where_signals_meet [SIGNALS [wait]]: signals meet a process in a tight loop of calls. Their handlers look at the
// instruction pointer; each must be in a file of the process. Every 4th handler calls HIP itself. wait: says that it is
// ready, and begins at a line on standard input; the signals come more slowly.
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tracee.h"

enum { most = 100000 };
static volatile int received;
static unsigned long met[most];

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  met[received] = (unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  if (++received % 4 == 0) hipDeviceSynchronize();
}

static void send(pid_t to, int signals, useconds_t apart) {
  for (int i = 0; i < signals; ++i) {
    for (volatile int pause = 0; pause < i % 97 * 100; ++pause) continue;
    while (sigqueue(to, SIGRTMIN, (union sigval){.sival_int = i})) usleep(100);
    if (apart) usleep(apart);
  }
}

// Executable memory that has no file, as fade's.
static int count_outside(void) {
  unsigned long begin, end;
  char line[512], permissions[8], path[256];
  int outside = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  MUST(maps);
  while (fgets(line, sizeof line, maps)) {
    const int fields = sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &end, permissions, path);
    if (fields >= 4 || permissions[2] != 'x') continue;
    for (int i = 0; i < received; ++i) outside += met[i] >= begin && met[i] < end;
  }
  fclose(maps);
  return outside;
}

int main(int argc, char** argv) {
  const int signals = number(argc, argv, 1, 2000);
  const pid_t self = getpid();
  char memory[64];
  int status = 0, device = 0;
  MUST(signals <= most);
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGRTMIN, &action, NULL));
  for (int i = 0; i < 2; ++i) {
    HIP_OK(hipMemset(memory, 0, sizeof memory));
    HIP_OK(hipGetDevice(&device));
    HIP_OK(hipDeviceSynchronize());
  }
  if (argc > 2) {
    printf("ready\n");
    fflush(stdout);
    MUST(getchar() != EOF);
  }
  const pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    send(self, signals, argc > 2 ? 50 : 0);
    _exit(0);
  }
  while (received < signals) {
    HIP_OK(hipMemset(memory, 0, sizeof memory));
    HIP_OK(hipGetDevice(&device));
    MUST(device == 0 && hipSetDevice(99) == hipErrorInvalidDevice);
  }
  MUST(waitpid(child, &status, 0) == child && status == 0);
  printf("received %d, %d outside\n", received, count_outside());
  if (argc > 2) {
    fflush(stdout);
    while (getchar() != EOF) continue;
  }
}
