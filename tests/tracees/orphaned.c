// orphaned HOW: calls HIP, waits until nobody traces it any more, and then does what a breakpoint without a tracer
// could not survive. block: every signal, in threads too; handler, once, ignored: SIGTRAP's action; children: system,
// posix_spawn, popen, fork; nothing.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tracee.h"

extern char** environ;
static volatile int traps;

static void handler(int signal) {
  (void)signal;
  ++traps;
  hipDeviceSynchronize();
}

static int is_traced(void) {
  char text[4096];
  int fd = open("/proc/self/status", O_RDONLY);
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  MUST(got > 0);
  text[got] = 0;
  char* at = strstr(text, "TracerPid:\t");
  return at && atoi(at + 11) != 0;
}

static void* work(void* arg) {
  some_calls(50);
  return arg;
}

static void block(void) {
  pthread_t t[4];
  sigset_t all, now;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, work, NULL);
  some_calls(5);
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  sigprocmask(SIG_SETMASK, NULL, &now);
  printf("SIGUSR1 is blocked %d, SIGKILL %d\n", sigismember(&now, SIGUSR1), sigismember(&now, SIGKILL));
  raise(SIGUSR1);  // stays pending
}

static void handle(int flags) {
  struct sigaction now;
  sigaction(SIGTRAP, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
  some_calls(5);
  raise(SIGTRAP);
  sigaction(SIGTRAP, NULL, &now);
  printf("traps %d, handler %s\n", traps,
         now.sa_handler == handler   ? "mine"
         : now.sa_handler == SIG_DFL ? "default"
                                     : "foreign");
}

static void ignore(void) {
  signal(SIGTRAP, SIG_IGN);
  raise(SIGTRAP);
  some_calls(5);
}

static void children(const char* self) {
  char* arguments[] = {(char*)self, "child", NULL};
  char line[64] = "";
  pid_t pid;
  int status = 0;
  MUST(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
  MUST(waitpid(pid, &status, 0) == pid);
  printf("spawned %x\n", status);
  fflush(stdout);
  printf("system %x\n", system("exit 3"));
  FILE* pipe = popen("echo through a pipe", "r");
  MUST(pipe && fgets(line, sizeof line, pipe));
  printf("%s", line);
  printf("closed %x\n", pclose(pipe));
  fflush(stdout);
  if ((pid = fork()) == 0) {
    some_calls(3);
    _exit(5);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  printf("forked %x\n", status);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "nothing";
  some_calls(5);
  if (!strcmp(how, "child")) return 6;
  while (is_traced()) usleep(1000);
  if (!strcmp(how, "block")) block();
  if (!strcmp(how, "handler")) handle(0);
  if (!strcmp(how, "once")) handle((int)SA_RESETHAND);
  if (!strcmp(how, "ignored")) ignore();
  if (!strcmp(how, "children")) children(argv[0]);
  some_calls(5);
  printf("done\n");
}
