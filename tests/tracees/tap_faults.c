// tap_faults HOW: calls HIP, meets a fault of its own making, and calls on. It prints "before" and "after".
// HOW: a limit (as, data, fsize, memlock, nofile), everything locked (locked), or all that fade's rings hold, found in
// the process's own maps (zeros, noise, unmapped). filter ERRNO CALL...: system calls that fail with this error (0:
// they kill), forbidden before the first call of HIP; later: between two calls of HIP; started: before the program.
#include <linux/capability.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "seccomp.h"

static const int kRounds = 300;

static void limit(int resource, unsigned long amount) { MUST(!setrlimit(resource, &(struct rlimit){amount, amount})); }

static unsigned long kilobytes(const char* name) {
  char line[256];
  unsigned long value = 0;
  FILE* status = fopen("/proc/self/status", "r");
  MUST(status);
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, name, strlen(name))) value = strtoul(line + strlen(name) + 1, NULL, 10);
  fclose(status);
  return value;
}

// Root may lock what it likes.
static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  MUST(!syscall(SYS_capset, &header, none));
}

// What is mapped from now on is locked, and is less than the rings.
static void lock_memory(void) {
  limit(RLIMIT_MEMLOCK, 8 << 20);
  drop_capabilities();
  MUST(!mlockall(MCL_FUTURE));
}

static void set_limit(const char* how) {
  if (!strcmp(how, "as")) limit(RLIMIT_AS, (kilobytes("VmSize") << 10) + (16 << 20));
  if (!strcmp(how, "data")) limit(RLIMIT_DATA, (kilobytes("VmData") << 10) + (64 << 10));
  if (!strcmp(how, "fsize")) limit(RLIMIT_FSIZE, 4096);
  if (!strcmp(how, "nofile")) limit(RLIMIT_NOFILE, 3);
  if (!strcmp(how, "memlock")) lock_memory();
  if (!strcmp(how, "locked")) MUST(!mlockall(MCL_CURRENT | MCL_FUTURE));
}

static void spoil(uintptr_t begin, size_t size, const char* how) {
  uint64_t state = 1;
  if (!strcmp(how, "zeros")) memset((void*)begin, 0, size);
  if (!strcmp(how, "unmapped")) MUST(!munmap((void*)begin, size));
  if (strcmp(how, "noise")) return;
  for (uint64_t* at = (uint64_t*)begin; at < (uint64_t*)(begin + size); ++at)
    *at = state = state * 6364136223846793005u + 1442695040888963407u;
}

static void spoil_rings(const char* how) {
  char line[1024];
  uintptr_t begin, end;
  FILE* maps = fopen("/proc/self/maps", "r");
  MUST(maps);
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "fade taps") && sscanf(line, "%lx-%lx", &begin, &end) == 2) spoil(begin, end - begin, how);
  fclose(maps);
}

static void add_filters(char** words) {
  const int error = atoi(words[0]);
  const unsigned answer = error ? SECCOMP_RET_ERRNO | (unsigned)error : SECCOMP_RET_KILL_PROCESS;
  for (++words; *words; ++words) answer_with((unsigned)atoi(*words), 0, answer);
}

// The working folder gets the number of KiB that are locked.
static void write_locked(void) {
  FILE* file = fopen("locked", "w");
  MUST(file && fprintf(file, "%lu\n", kilobytes("VmLck")) > 0 && !fclose(file));
}

// Under a filter: calls that make no system call.
static void make_calls(const char* how) {
  int device;
  if (strcmp(how, "filter") && strcmp(how, "later")) return some_calls(kRounds);
  for (int i = 0; i < kRounds; ++i) HIP_OK(hipGetDevice(&device));
  for (int i = 0; i < kRounds; ++i) HIP_OK(hipDeviceSynchronize());
}

static void say(const char* word) {
  if (write(STDOUT_FILENO, word, strlen(word)) != (ssize_t)strlen(word)) _exit(98);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  set_limit(how);
  if (!strcmp(how, "filter")) add_filters(argv + 2);
  if (!strcmp(how, "started")) {
    add_filters(argv + 2);
    execl("/proc/self/exe", argv[0], NULL);
    _exit(97);
  }
  make_calls(how);
  say("before\n");
  if (!strcmp(how, "later")) add_filters(argv + 2);
  if (!strcmp(how, "zeros") || !strcmp(how, "noise") || !strcmp(how, "unmapped")) spoil_rings(how);
  make_calls(how);
  if (!strcmp(how, "locked")) write_locked();
  say("after\n");
  _exit(7);
}
