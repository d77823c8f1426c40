// sigtrap HOW: SIGTRAP that belongs to the program. handler: raise and int3 of its own; default: dies of it; ignored;
// late: the handler is installed after the first calls; ask: prints the disposition; vfork: a child in its memory has
// another action, and then executes another program; once: the handler serves for one signal, the next one kills;
// spawn: it is blocked, but not in a program that posix_spawn(3) gives another mask.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tracee.h"

extern char** environ;

static volatile int traps, at_int3;
extern char after_int3[];

static void handler(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  ++traps;
  at_int3 += ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] == (long)after_int3;
  hipDeviceSynchronize();
}

__attribute__((noinline, noclone)) static void own_int3(void) {
  __asm__ volatile("int3\n.globl after_int3\nafter_int3:" ::: "memory");
}
static void inside(void* arg) {
  (void)arg;
  own_int3();
}

static void show(void) {
  struct sigaction a;
  sigset_t mask;
  sigaction(SIGTRAP, NULL, &a);
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  printf("SIGTRAP is %s%s\n", sigismember(&mask, SIGTRAP) ? "blocked and " : "",
         a.sa_handler == SIG_DFL                   ? "default"
         : a.sa_handler == SIG_IGN                 ? "ignored"
         : (void*)a.sa_sigaction == (void*)handler ? "mine"
                                                   : "foreign");
}

static void child_that_ignores_it(void) {
  int status = -1;
  const pid_t pid = vfork();
  if (!pid) {
    sigaction(SIGTRAP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    show();
    fflush(stdout);
    const pid_t own = fork();
    if (!own) {
      show();
      fflush(stdout);
      _exit(raise(SIGTRAP));
    }
    MUST(waitpid(own, &status, 0) == own && status == 0);
    execl("/proc/self/exe", "sigtrap", "ask", (char*)NULL);
    _exit(127);
  }
  MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void spawn_without_mask(void) {
  char self[] = "/proc/self/exe", name[] = "sigtrap", ask[] = "ask";
  char* arguments[] = {name, ask, NULL};
  posix_spawnattr_t attributes;
  sigset_t every, before, none;
  int status = -1;
  pid_t pid;
  sigfillset(&every);
  sigemptyset(&none);
  pthread_sigmask(SIG_BLOCK, &every, &before);
  show();
  fflush(stdout);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  MUST(!posix_spawn(&pid, self, NULL, &attributes, arguments, environ));
  MUST(waitpid(pid, &status, 0) == pid && status == 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "handler";
  if (!strcmp(how, "late") || !strcmp(how, "ask")) some_calls(3);
  show();
  if (!strcmp(how, "ask")) return 0;
  if (!strcmp(how, "ignored")) {
    signal(SIGTRAP, SIG_IGN);
    some_calls(3);
    raise(SIGTRAP);
  } else if (strcmp(how, "default")) {
    sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
    some_calls(3);
    if (!strcmp(how, "once")) {
      sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESETHAND}, NULL);
      raise(SIGTRAP);
      show();
      fflush(stdout);
    }
    if (!strcmp(how, "spawn")) spawn_without_mask();
    if (!strcmp(how, "vfork")) child_that_ignores_it();
    raise(SIGTRAP);
    own_int3();
    HIP_OK(hipLaunchHostFunc(NULL, inside, NULL));
  }
  show();
  fflush(stdout);
  if (!strcmp(how, "default")) own_int3();
  some_calls(3);
  printf("traps %d, at my own instruction %d\n", traps, at_int3);
}
