// own_text HOW: calls HIP, and then compares the text of every library in its memory with the library's file.
// fork: in a child; threads: four threads call until SIGUSR1 comes; forks: the same while children are made all the
// time. Ends with 0 where all is as in the files, 2 where the comparison failed to find anything to compare.
#include <elf.h>
#include <fcntl.h>
#include <hip/hip_runtime.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long compared, different;
static volatile sig_atomic_t enough;

static int compare(struct dl_phdr_info* info, size_t size, void* arg) {
  (void)size, (void)arg;
  const char* path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;  // the vdso
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    const unsigned char* memory = (const unsigned char*)(info->dlpi_addr + p->p_vaddr);
    unsigned char* file = malloc(p->p_filesz);
    if (pread(fd, file, p->p_filesz, (off_t)p->p_offset) != (ssize_t)p->p_filesz) abort();
    for (size_t at = 0; at < p->p_filesz; ++at) different += memory[at] != file[at];
    compared += (long)p->p_filesz;
    free(file);
  }
  close(fd);
  return 0;
}

static int check(void) {
  compared = different = 0;
  dl_iterate_phdr(compare, NULL);
  return compared < 10000 ? 2 : different != 0;
}

static void calls(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* p = NULL;
    if (hipMalloc(&p, 64) != hipSuccess || hipMemset(p, 0, 64) != hipSuccess || hipFree(p) != hipSuccess) exit(3);
  }
}

static void* call_until_enough(void* arg) {
  while (!enough) calls(10);
  return arg;
}

static void on_enough(int signal) {
  (void)signal;
  enough = 1;
}

static int exit_status(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// Children that outlive the moment, and threads that come and go.
static int make_children_until_enough(void) {
  int worst = 0;
  while (!enough) {
    const pid_t pid = fork();
    if (!pid) {
      calls(3);
      _exit(0);
    }
    pthread_t t;
    if (pthread_create(&t, NULL, call_until_enough, NULL)) abort();
    const int status = exit_status(pid);
    if (status > worst) worst = status;
    if (enough || worst) {
      pthread_join(t, NULL);
      break;
    }
    pthread_detach(t);
    usleep(1000);
  }
  return worst;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "fork";
  signal(SIGUSR1, on_enough);
  calls(5);
  if (!strcmp(how, "fork")) {
    const pid_t pid = fork();
    if (pid) return exit_status(pid);
    calls(5);
    _exit(check());
  }
  if (!strcmp(how, "forks")) {
    const int worst = make_children_until_enough();
    calls(5);
    return worst ? worst : check();
  }
  pthread_t t[4];
  for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, call_until_enough, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  calls(5);
  return check();
}
