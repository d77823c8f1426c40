// devices HOW: where memory goes is known to fade from what it saw of hipSetDevice alone.
//   fork     allocates on device 1, and so does a forked child, which does not call hipSetDevice again
//   later    sets device 1, says "ready", and then allocates as it is told by lines: "main", "thread", "set"; any other
//   ends it failing  asks for devices and for memory; prints how that ended share    two children that hold 1 MiB each
//   at the same moment; CHILD_0 and CHILD_1 are NAME=VALUE;NAME=VALUE for each
#include <pthread.h>
#include <sys/wait.h>

#include "tracee.h"

static void* allocate(size_t bytes) {
  void* p = NULL;
  HIP_OK(hipMalloc(&p, bytes));
  return p;
}

static int device_now(void) {
  int device = -1;
  HIP_OK(hipGetDevice(&device));
  return device;
}

static void forks(void) {
  HIP_OK(hipSetDevice(1));
  void* p = allocate(1 << 20);
  const pid_t child = fork();
  if (!child) {
    HIP_OK(hipFree(allocate(2 << 20)));
    printf("child device %d\n", device_now());
    fflush(stdout);
    _exit(0);
  }
  int status = 1;
  MUST(waitpid(child, &status, 0) == child && status == 0);
  HIP_OK(hipFree(p));
}

static void* in_thread(void* unused) {
  (void)unused;
  HIP_OK(hipFree(allocate(3 << 20)));
  return NULL;
}

static void later(void) {
  char line[64];
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipFree(allocate(1 << 10)));
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    pthread_t thread;
    if (!strcmp(line, "main\n")) HIP_OK(hipFree(allocate(1 << 20)));
    else if (!strcmp(line, "set\n")) HIP_OK(hipSetDevice(1));
    else if (!strcmp(line, "thread\n"))
      MUST(!pthread_create(&thread, NULL, in_thread, NULL) && !pthread_join(thread, NULL));
    else break;
    printf("done\n");
    fflush(stdout);
  }
}

static void failing(void) {
  int count = 7;
  void* p = NULL;
  const hipError_t counted = hipGetDeviceCount(&count), allocated = hipMalloc(&p, 64), set = hipMemset(p, 0, 64);
  printf("%d %d %d\n", counted, allocated, set);
}

// Both are programs of their own, so that each has its own environment.
static void share(const char* self) {
  int ready[2], go[2];
  char c;
  MUST(!pipe(ready) && !pipe(go));
  for (int i = 0; i < 2; ++i) {
    if (fork()) continue;
    char name[] = {'C', 'H', 'I', 'L', 'D', '_', (char)('0' + i), 0};
    char* setting = getenv(name);
    for (char* one = setting ? strtok(setting, ";") : NULL; one; one = strtok(NULL, ";")) putenv(one);
    dup2(go[0], 0);
    dup2(ready[1], 1);
    close(go[1]);
    execl(self, self, "hold", (char*)NULL);
    _exit(98);
  }
  for (int i = 0; i < 2; ++i) MUST(read(ready[0], &c, 1) == 1);
  close(go[1]);
  for (int i = 0, status = 1; i < 2; ++i) MUST(wait(&status) > 0 && status == 0);
}

static void hold(void) {
  hipDeviceProp_t prop;
  char c;
  if (!getenv("SILENT")) HIP_OK(hipGetDeviceProperties(&prop, 0));
  void* p = allocate(1 << 20);
  MUST(write(1, "r", 1) == 1);
  MUST(read(0, &c, 1) == 0);
  HIP_OK(hipFree(p));
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "fork")) forks();
  if (!strcmp(how, "later")) later();
  if (!strcmp(how, "failing")) failing();
  if (!strcmp(how, "share")) share(argv[0]);
  if (!strcmp(how, "hold")) hold();
}
