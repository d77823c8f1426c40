// LD_PRELOAD into fade: kills it before or after the Nth of the calls with which it touches a program.
// FADE_CHAOS_KILLER names a file of two words that is mapped: the calls made until now, and the number at which to die
// (0: none; its lowest bit says after, the others count).
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t nothing[2];
static volatile uint64_t* words = nothing;

__attribute__((constructor)) static void start(void) {
  const char* name = getenv("FADE_CHAOS_KILLER");
  const int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
  void* map = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) words = map;
  if (fd >= 0) close(fd);
}

static void die_if_now(int after) {
  const uint64_t at = words[1];
  if (at >> 1 && words[0] >= at >> 1 && (at & 1) == (uint64_t)after) kill(getpid(), SIGKILL);
}

// Only what the tracing thread does counts, not the database.
#define COUNTED(type, name, parameters, arguments)                 \
  type name parameters {                                           \
    static type(*next) parameters;                                 \
    if (!next) next = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    const int counts = syscall(SYS_gettid) == getpid();            \
    if (counts) ++words[0], die_if_now(0);                         \
    type result = next arguments;                                  \
    if (counts) die_if_now(1);                                     \
    return result;                                                 \
  }

COUNTED(long, ptrace, (int what, pid_t tid, void* address, void* data), (what, tid, address, data))
COUNTED(ssize_t, pwrite, (int fd, const void* from, size_t size, off_t at), (fd, from, size, at))
COUNTED(ssize_t, pwrite64, (int fd, const void* from, size_t size, off64_t at), (fd, from, size, at))
COUNTED(int, waitid, (idtype_t type, id_t id, siginfo_t* info, int options), (type, id, info, options))
