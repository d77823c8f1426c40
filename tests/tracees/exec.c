// exec HOW PROGRAM [ARGS]: replaces itself from the first thread, from another ("thread"), or tries in vain first
// ("fail").
#include <errno.h>
#include <pthread.h>

#include "tracee.h"

static void* from_thread(void* argv) {
  some_calls(3);
  execv(((char**)argv)[2], (char**)argv + 2);
  _exit(126);
}

static void* busy(void* arg) {
  for (;;) hipPeekAtLastError();
  return arg;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  some_calls(4);
  if (!strcmp(argv[1], "fail")) {
    const int first = execl("/nonexistent/program", "x", (char*)NULL);
    printf("exec %d %s\n", first, strerror(errno));
    const int second = execl("/etc/passwd", "x", (char*)NULL);
    printf("exec %d %s\n", second, strerror(errno));
    some_calls(4);
  }
  fflush(stdout);
  if (!strcmp(argv[1], "thread")) {
    pthread_t t;
    if (argc > 3 && !strcmp(argv[3], "busy")) pthread_create(&t, NULL, busy, NULL);
    pthread_create(&t, NULL, from_thread, argv);
    pthread_join(t, NULL);
  }
  execv(argv[2], argv + 2);
  return 126;
}
