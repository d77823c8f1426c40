// born WHAT: calls HIP while threads, children or new programs are made all the time, until the input ends. What it
// makes calls too and says by its end whether all went well.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "tracee.h"

static atomic_int living;

static int has_ended(void) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 1;
}

static void* brief(void* arg) {
  some_calls(2);
  --living;
  return arg;
}

static void make_threads(void) {
  while (!has_ended()) {
    pthread_t t;
    while (living >= 8) usleep(100);
    ++living;
    MUST(!pthread_create(&t, NULL, brief, NULL));
    pthread_detach(t);
    some_calls(1);
  }
  while (living) usleep(100);
}

static void expect(pid_t pid, int wanted) {
  int status = 0;
  MUST(waitpid(pid, &status, 0) == pid);
  if (status != wanted) printf("a child ended with %#x\n", status);
}

static void make_children(void) {
  while (!has_ended()) {
    pid_t pids[3];
    for (int i = 0; i < 3; ++i) {
      pids[i] = fork();
      if (pids[i]) continue;
      some_calls(2);
      if (i == 1) execl("/proc/self/exe", "born", "leaf", (char*)NULL);
      _exit(5);
    }
    some_calls(2);
    for (int i = 0; i < 3; ++i) expect(pids[i], 5 << 8);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "threads";
  char next[16];
  some_calls(2);
  if (!strcmp(what, "leaf")) return 5;
  if (argc < 3 || !strcmp(argv[2], "0")) printf("ready\n");
  fflush(stdout);
  if (!strcmp(what, "threads")) make_threads();
  if (!strcmp(what, "children")) make_children();
  if (!strcmp(what, "programs") && !has_ended()) {
    snprintf(next, sizeof next, "%d", number(argc, argv, 2, 0) + 1);
    execl("/proc/self/exe", "born", "programs", next, (char*)NULL);
  }
  some_calls(2);
  printf("done\n");
}
