// polls [CALLS [THREADS [fork]]]: each thread asks for its last error and for the end of a stream's work so often, from
// several places, in a tight loop. Every 50th stream is none, and every 20th question comes in front of a copy, which
// calls other functions inside. fork: a child does it all once more, beginning in the middle.
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static int calls;
static const char* more;

static void poll(hipStream_t stream, int i) {
  char from[8] = "seven..", to[8];
  if (i % 50 == 49) MUST(hipStreamQuery((hipStream_t)&calls) != hipSuccess);
  HIP_OK(hipStreamQuery(stream));
  if (i % 3 == 0) HIP_OK(hipStreamQuery(stream));
  (void)hipPeekAtLastError();
  if (i % 50 == 49) (void)hipGetLastError();
  if (i % 20 == 19) HIP_OK(hipMemcpy(to, from, sizeof to, hipMemcpyHostToHost));
}

static void* work(void* first) {
  hipStream_t stream;
  pid_t child = -1;
  int status = 0;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipStreamSynchronize(stream));
  for (int i = 0; i < calls; ++i) {
    if (first && i == calls / 2 && !strcmp(more, "fork")) {
      more = "";
      MUST((child = fork()) >= 0);
      if (child == 0) i = 0;
    }
    poll(stream, i);
  }
  if (child > 0) MUST(waitpid(child, &status, 0) == child && status == 0);
  if (child == 0) exit(0);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t others[64];
  calls = number(argc, argv, 1, 10000);
  const int threads = number(argc, argv, 2, 1);
  more = argc > 3 ? argv[3] : "";
  MUST(threads <= 64);
  for (int i = 1; i < threads; ++i) MUST(!pthread_create(&others[i], NULL, work, NULL));
  work(&calls);
  for (int i = 1; i < threads; ++i) pthread_join(others[i], NULL);
  return 0;
}
