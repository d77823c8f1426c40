// signals_at_calls [SIGNALS [onstack]]: a process in a tight loop of calls is sent queued signals of two kinds,
// whose handlers may interrupt each other. Every 4th handler calls HIP itself. With `onstack` they run on an
// alternate stack.
#include <signal.h>
#include <sys/wait.h>

#include "tracee.h"

static volatile int received;
static char other_stack[1 << 18];

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  // One instruction, since the other handler may come between a load and a store.
  if (__atomic_add_fetch(&received, 1, __ATOMIC_RELAXED) % 4 == 0) hipDeviceSynchronize();
}

static void send(pid_t to, int signals) {
  for (int i = 0; i < signals; ++i) {
    for (volatile int pause = 0; pause < i % 97 * 1000; ++pause) continue;
    while (sigqueue(to, SIGRTMIN + i % 2, (union sigval){.sival_int = i})) usleep(100);
  }
}

int main(int argc, char** argv) {
  const int signals = number(argc, argv, 1, 2000), flags = argc > 2 ? SA_ONSTACK : 0;
  const pid_t self = getpid();
  char memory[64];
  int status = 0;
  MUST(!sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL));
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | flags};
  for (int i = 0; i < 2; ++i) MUST(!sigaction(SIGRTMIN + i, &action, NULL));
  const pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    send(self, signals);
    _exit(0);
  }
  while (received < signals) HIP_OK(hipMemset(memory, 0, sizeof memory));
  MUST(waitpid(child, &status, 0) == child && status == 0);
  printf("received %d\n", received);
}
