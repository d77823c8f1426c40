// What a program sees of its surroundings: arguments, environment, descriptors, limits, signal mask and dispositions,
// tty.
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tracee.h"

extern char** environ;

static unsigned long long digest(char** texts, int* count) {
  unsigned long long h = 1469598103934665603ull;
  for (*count = 0; texts[*count]; ++*count)
    for (const char* p = texts[*count]; *p; ++p) h = (h ^ (unsigned char)*p) * 1099511628211ull;
  return h;
}

static void descriptors(void) {
  DIR* dir = opendir("/proc/self/fd");
  char seen[256] = "";
  for (struct dirent* e; (e = readdir(dir));)
    if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(dir) && atoi(e->d_name) < 256) seen[atoi(e->d_name)] = 1;
  closedir(dir);
  printf("fds");
  for (int i = 0; i < 256; ++i)
    if (seen[i]) printf(" %d", i);
  printf("\n");
}

static void signals(void) {
  sigset_t mask, pending;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  sigpending(&pending);
  printf("blocked");
  for (int s = 1; s < 65; ++s)
    if (sigismember(&mask, s) == 1) printf(" %d", s);
  printf("\npending");
  for (int s = 1; s < 65; ++s)
    if (sigismember(&pending, s) == 1) printf(" %d", s);
  printf("\nnot default");
  for (int s = 1; s < 65; ++s) {
    struct sigaction a;
    if (!sigaction(s, NULL, &a) && (a.sa_handler != SIG_DFL || a.sa_flags)) printf(" %d", s);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  int n = 0;
  struct rlimit files, stack;
  (void)argc;
  HIP_OK(hipDeviceSynchronize());
  const unsigned long long arguments = digest(argv, &n);
  printf("arguments %d %llx\n", n, arguments);
  const unsigned long long environment = digest(environ, &n);
  printf("environment %d %llx\n", n, environment);
  descriptors();
  signals();
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_STACK, &stack);
  printf("limits %llu %llu\n", (unsigned long long)files.rlim_cur, (unsigned long long)stack.rlim_cur);
  printf("tty %d %d %d\n", isatty(0), isatty(1), isatty(2));
  printf("dumpable %d, death signal %d\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_PDEATHSIG, &n) + n * 0);
  printf("group %s, session %s\n", getpgrp() == getpgid(getppid()) ? "of parent" : "own",
         getsid(0) == getsid(getppid()) ? "of parent" : "own");
}
