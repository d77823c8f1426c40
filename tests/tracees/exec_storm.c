// exec_storm MODE COUNT: executes itself COUNT times, every few milliseconds, and says at the end how often it did.
// MODE: who executes.
//   alone: the only thread      leader: the first thread, beside another
//   thread: another one, which the first thread waits for      sleeping: another one, while the first thread sleeps
//   busy: another one, while four threads call HIP and one forks
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static char** arguments;

static void execute(void) {
  char left[16];
  snprintf(left, sizeof left, "%d", atoi(arguments[2]) - 1);
  execl("/proc/self/exe", "exec_storm", arguments[1], left, arguments[3], (char*)NULL);
  _exit(35);
}

static void* executes(void* arg) {
  if (!strcmp(arguments[1], "busy")) usleep(3000);
  execute();
  return arg;
}

static void* sleeps(void* arg) {
  pause();
  return arg;
}

static void* calls(void* arg) {
  for (;;) some_calls(1);
  return arg;
}

static void* forks(void* arg) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) {
      some_calls(1);
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    MUST(status == 0);
  }
  return arg;
}

static pthread_t start(void* (*work)(void*)) {
  pthread_t thread;
  MUST(!pthread_create(&thread, NULL, work, NULL));
  return thread;
}

int main(int argc, char** argv) {
  char* given[] = {argv[0], argv[1], argv[2], argv[2], NULL};
  arguments = argc > 3 ? argv : given;
  if (atoi(arguments[2]) == 0) {
    printf("executed %s times\n", arguments[3]);
    return 0;
  }
  const char* mode = arguments[1];
  usleep(2000);
  if (!strcmp(mode, "alone")) execute();
  if (!strcmp(mode, "leader")) {
    start(sleeps);
    usleep(500);
    execute();
  }
  if (!strcmp(mode, "busy")) {
    for (int i = 0; i < 4; ++i) start(calls);
    start(forks);
  }
  const pthread_t other = start(executes);
  if (!strcmp(mode, "thread")) pthread_join(other, NULL);
  for (;;) pause();
}
