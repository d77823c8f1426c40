// chaos MODES THREADS [LIBRARY]: calls HIP in THREADS threads and checks everything that it can about itself, until
// SIGUSR1 comes; then says what it did and ends with 0, or with 1 where anything was not right. A letter for each mode:
//   f  forks: fork, vfork and exec, posix_spawn      x  exceptions thrown through calls of HIP
//   p  waits in poll, nanosleep, futex and read      b  every other thread blocks all signals
//   B  has a SIGTRAP handler and uses it             l  opens and closes LIBRARY, another copy of the runtime
//   c  threads are born and die                      g  signals meet the callers, whose handler calls HIP
//   m  the first thread calls too                    L  the first thread ends before the others
//   k  children without signal handlers (clone3 with CLONE_CLEAR_SIGHAND), every other one kept from the tracer
//   e  executes itself every few ten milliseconds, by its first thread or another one; not with m and L
// "chaos child FD" is what it executes.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracee.h"

extern char** environ;
extern "C" long guarded(void* function, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
                        std::uint64_t* broken);
extern "C" std::uint64_t spin(std::uint64_t rounds);

namespace {

enum Function { Malloc, Memcpy, Memset, Synchronize, Free, HostFunction, kFunctions };
constexpr const char* kNames[] = {"hipMalloc", "hipMemcpy",        "hipMemset", "hipDeviceSynchronize",
                                  "hipFree",   "hipLaunchHostFunc"};

// What all processes of the tree did, in memory that they share.
struct Tally {
  std::atomic<std::uint64_t> calls[kFunctions], begun[kFunctions], execs, children, thrown, caught, raised, trapped,
      waits, interrupted, signals, opened, threads;
  std::atomic<bool> ends, wrong;  // stay over an exec
};
Tally* tally;
int tally_fd;
std::atomic<bool> enough{false};
std::atomic<int> wrong{0};
bool executes;  // calls that an exec ends have begun only: each is added up at once
thread_local std::atomic<std::uint64_t> mine[kFunctions];

void complain(const char* what, int line) {
  wrong = 1;
  if (tally) tally->wrong = true;
  fprintf(stderr, "%d: %s: %m\n", line, what);
}
#define RIGHT(condition)                              \
  do {                                                \
    if (!(condition)) complain(#condition, __LINE__); \
  } while (0)

void add_up() {
  for (int i = 0; i < kFunctions; ++i) tally->calls[i] += mine[i].exchange(0);
}

// A call, which ends where its scope does.
class Counted {
 public:
  explicit Counted(Function which) : which_(which) { ++(executes ? tally->begun[which_] : mine[which_]); }
  ~Counted() { tally->calls[which_] += executes; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Function which_;
};

// guarded(f, a, b, c, d, broken): f(a, b, c, d) with a pattern in every register that a function must keep; counts
// those that were not kept.
asm(R"(
        .text
guarded:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        push    %r9
        mov     %rdi, %rax
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        mov     %rcx, %rdx
        mov     %r8, %rcx
        movabs  $0x1b1b1b1b1b1b1b1b, %rbx
        lea     1(%rbx), %rbp
        lea     2(%rbx), %r12
        lea     3(%rbx), %r13
        lea     4(%rbx), %r14
        lea     5(%rbx), %r15
        call    *%rax
        movabs  $0x1b1b1b1b1b1b1b1b, %rdx
        xor     %ecx, %ecx
        cmp     %rdx, %rbx
        setne   %cl
        sub     %rdx, %rbp
        xor     $1, %rbp
        sub     %rdx, %r12
        xor     $2, %r12
        sub     %rdx, %r13
        xor     $3, %r13
        sub     %rdx, %r14
        xor     $4, %r14
        sub     %rdx, %r15
        xor     $5, %r15
        or      %rbp, %rcx
        or      %r12, %rcx
        or      %r13, %rcx
        or      %r14, %rcx
        or      %r15, %rcx
        pop     %r9
        or      %rcx, (%r9)
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
# spin(n): writes n..1 into vector registers, flags and the red zone, and reads it back. Returns what differed.
spin:
        xor     %eax, %eax
1:      mov     %rdi, -8(%rsp)
        mov     %rdi, -64(%rsp)
        mov     %rdi, -128(%rsp)
        movq    %rdi, %xmm3
        movq    %rdi, %xmm15
        mov     %rdi, %r10
        mov     %rdi, %r11
        cmp     %rdi, %rdi
        jne     2f
        movq    %xmm3, %rcx
        xor     %rdi, %rcx
        or      %rcx, %rax
        movq    %xmm15, %rcx
        xor     %rdi, %rcx
        or      %rcx, %rax
        xor     %rdi, %r10
        or      %r10, %rax
        xor     %rdi, %r11
        or      %r11, %rax
        mov     -8(%rsp), %rcx
        xor     %rdi, %rcx
        or      %rcx, %rax
        mov     -64(%rsp), %rcx
        xor     %rdi, %rcx
        or      %rcx, %rax
        mov     -128(%rsp), %rcx
        xor     %rdi, %rcx
        or      %rcx, %rax
        dec     %rdi
        jnz     1b
        ret
2:      or      $-1, %rax
        ret
)");
template <class... Arguments>
hipError_t call(Function which, hipError_t (*function)(Arguments...), std::type_identity_t<Arguments>... arguments) {
  std::uint64_t broken = 0, words[4] = {};
  std::size_t i = 0;
  ((words[i++] = (std::uint64_t)arguments), ...);
  const Counted counted(which);
  const long result = guarded(reinterpret_cast<void*>(function), words[0], words[1], words[2], words[3], &broken);
  RIGHT(broken == 0);
  return static_cast<hipError_t>(static_cast<int>(result));
}

constexpr std::size_t kWords = 64;
std::uint64_t advance(std::uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; }

// More threads than processors: they rest between their rounds, or on a small machine whoever holds a lock would never
// get his turn. The stand-in maps memory for each allocation, so that they share that lock.
bool is_crowd;
int rounds_of_an_allocation = 1;

// A number takes a way through the "device" and comes back as the next one.
std::uint64_t through_the_device(std::uint64_t state) {
  thread_local void* there = nullptr;
  thread_local int uses = 0;
  std::uint64_t out[kWords], in[kWords];
  for (std::uint64_t& word : out) word = state = advance(state);
  hipError_t (*allocate)(void**, std::size_t) = hipMalloc;  // C++ knows two
  if (uses++ == 0) RIGHT(call(Malloc, allocate, &there, sizeof out) == hipSuccess && there);
  RIGHT(call(Memset, hipMemset, there, 0xA5, sizeof out) == hipSuccess);
  RIGHT(call(Memcpy, hipMemcpy, there, out, sizeof out / 2, hipMemcpyHostToDevice) == hipSuccess);
  RIGHT(call(Synchronize, hipDeviceSynchronize) == hipSuccess);
  RIGHT(call(Memcpy, hipMemcpy, in, there, sizeof in, hipMemcpyDeviceToHost) == hipSuccess);
  if (uses >= rounds_of_an_allocation) {
    RIGHT(call(Free, hipFree, there) == hipSuccess);
    uses = 0;
  }
  for (std::size_t i = 0; i < kWords; ++i) RIGHT(in[i] == (i < kWords / 2 ? out[i] : 0xA5A5A5A5A5A5A5A5));
  return in[kWords / 2 - 1];
}

std::uint64_t same_without_device(std::uint64_t state) {
  for (std::size_t i = 0; i < kWords / 2; ++i) state = advance(state);
  return state;
}

// ---------------------------------------------------------------- threads

void* calls(void* seed) {
  pthread_setname_np(pthread_self(), "caller");  // leaves its signal mask alone from now on
  const auto first = reinterpret_cast<std::uint64_t>(seed);
  std::uint64_t state = first, rounds = 0;
  for (; !enough; ++rounds) {
    state = through_the_device(state);
    RIGHT(spin(200) == 0);
    if (is_crowd) usleep(2000);
  }
  std::uint64_t expected = first;
  for (std::uint64_t i = 0; i < rounds; ++i) expected = same_without_device(expected);
  RIGHT(state == expected && (rounds > 0 || executes));
  add_up();
  return nullptr;
}

void* calls_with_all_blocked(void* seed) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  return calls(seed);
}

void* a_few_calls(void* seed) {
  RIGHT(through_the_device(reinterpret_cast<std::uint64_t>(seed)) ==
        same_without_device(reinterpret_cast<std::uint64_t>(seed)));
  add_up();
  return nullptr;
}

void* threads_come_and_go(void*) {
  while (!enough) {
    pthread_t born[3];
    for (std::uint64_t i = 0; i < 3; ++i)
      while (const int error = pthread_create(&born[i], nullptr, a_few_calls, reinterpret_cast<void*>(i)))
        MUST(executes && error == EAGAIN);  // clone(2) while another thread is in execve(2)
    for (pthread_t t : born) pthread_join(t, nullptr), ++tally->threads;
  }
  return nullptr;
}

void throws(void* depth_) {
  int depth = *static_cast<int*>(depth_) - 1;
  if (depth <= 0) throw std::runtime_error("through the call");
  const Counted counted(HostFunction);
  hipLaunchHostFunc(nullptr, throws, &depth);
}

void* exceptions(void*) {
  for (int i = 0; !enough; ++i) {
    int depth = 1 + i % 3;
    ++tally->thrown;
    try {
      const Counted counted(HostFunction);
      hipLaunchHostFunc(nullptr, throws, &depth);
      RIGHT(!"it was thrown");
    } catch (const std::runtime_error&) {
      ++tally->caught;
    }
    a_few_calls(nullptr);
  }
  add_up();
  return nullptr;
}

void* waits(void*) {
  int ends[2];
  MUST(!pipe2(ends, O_NONBLOCK | O_CLOEXEC));
  int never = 0;
  for (int i = 0; !enough; ++i) {
    timespec pause{0, 1'000'000 + i % 7 * 500'000}, at;
    pollfd pipe{ends[0], POLLIN, 0};
    char byte;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec = (at.tv_nsec + 2'000'000) % 1'000'000'000;
    int interrupted = poll(&pipe, 1, 2) < 0;
    interrupted += nanosleep(&pause, nullptr) < 0;
    interrupted += syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &pause, nullptr, 0) < 0 && errno == EINTR;
    interrupted += clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR;
    RIGHT(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
    tally->waits += 4;
    tally->interrupted += static_cast<unsigned>(interrupted);
    a_few_calls(nullptr);
  }
  return nullptr;
}

thread_local bool raises = false;

void trapped(int, siginfo_t* info, void* context) {
  ++tally->trapped;
  if (raises) return;
  char text[128];
  const auto at = static_cast<unsigned long long>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  const int size = snprintf(text, sizeof text, "a trap of others, code %d at %#llx\n", info->si_code, at);
  if (write(2, text, static_cast<std::size_t>(size)) < 0) _exit(98);
}

void* raises_traps(void*) {
  raises = true;
  while (!enough) {
    ++tally->raised;
    raise(SIGTRAP);
    ++tally->raised;
    asm volatile("int3");
    a_few_calls(nullptr);
    usleep(500);
  }
  return nullptr;
}

void* opens_and_closes(void* library) {
  while (!enough) {
    void* handle = dlopen(static_cast<char*>(library), RTLD_NOW | RTLD_LOCAL);
    MUST(handle);
    const auto allocate = reinterpret_cast<hipError_t (*)(void**, std::size_t)>(dlsym(handle, "hipMalloc"));
    const auto release = reinterpret_cast<hipError_t (*)(void*)>(dlsym(handle, "hipFree"));
    for (int i = 0; i < 5; ++i) {
      void* p = nullptr;
      const Counted allocated(Malloc), released(Free);
      RIGHT(allocate(&p, 64) == hipSuccess && release(p) == hipSuccess);
    }
    RIGHT(!dlclose(handle));
    ++tally->opened;
    usleep(2000);
  }
  add_up();
  return nullptr;
}

// ---------------------------------------------------------------- children

int child(int rounds) {
  wrong = 0;
  for (std::atomic<std::uint64_t>& count : mine) count = 0;
  for (int i = 0; i < rounds; ++i) a_few_calls(nullptr);
  return wrong;
}

void ended_well(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0) RIGHT(errno == EINTR);
  if (status != 0) fprintf(stderr, "child %d ended with %#x\n", pid, status);
  RIGHT(status == 0);
  ++tally->children;
}

void* forks(void*) {
  char fd[16];
  snprintf(fd, sizeof fd, "%d", tally_fd);
  char self[] = "/proc/self/exe", name[] = "chaos", word[] = "child";
  char* arguments[] = {name, word, fd, nullptr};
  for (int i = 0; !enough; ++i) {
    pid_t pid = fork();
    if (!pid) _exit(child(i % 8 ? 2 : 100));
    ended_well(pid);
    pid = vfork();
    if (!pid) {
      execve(self, arguments, environ);
      _exit(127);
    }
    ended_well(pid);
    MUST(!posix_spawn(&pid, self, nullptr, nullptr, arguments, environ));
    ended_well(pid);
    usleep(5000);
  }
  return nullptr;
}

void* children_without_handlers(void*) {
  constexpr std::uint64_t kClearSighand = std::uint64_t{1} << 32;
  for (int i = 0; !enough; ++i) {
    clone_args wish{};
    wish.flags = kClearSighand | (i % 2 ? CLONE_UNTRACED : 0);
    wish.exit_signal = SIGCHLD;
    const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &wish, sizeof wish));
    if (!pid) _exit(child(2));
    RIGHT(pid > 0);
    ended_well(pid);
    usleep(3000);
  }
  return nullptr;
}

// ---------------------------------------------------------------- execs

char** own_arguments;

// Every third program is executed by the first thread.
bool is_for_the_first_thread() { return tally->execs % 3 == 0; }

void execute_self() {
  usleep(20'000 + tally->execs % 5 * 10'000);
  if (enough) return;
  ++tally->execs;
  execve("/proc/self/exe", own_arguments, environ);
  RIGHT(!"it executed itself");
}

void* executes_itself(void*) {
  if (!is_for_the_first_thread()) execute_self();
  return nullptr;
}

// ---------------------------------------------------------------- the whole

std::vector<pthread_t> callers, all;  // outlive the first thread

void calls_in_handler(int) {
  ++tally->signals;
  const Counted counted(Synchronize);
  hipDeviceSynchronize();
}

void* sends_signals(void*) {
  for (std::size_t i = 0; !enough; ++i) {
    pthread_kill(callers[i % callers.size()], SIGUSR2);
    usleep(300);
  }
  return nullptr;
}

void handle(int signal, void (*handler)(int), void (*long_handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  if (handler) action.sa_handler = handler;
  if (long_handler) action.sa_sigaction = long_handler;
  action.sa_flags = SA_RESTART | (long_handler ? SA_SIGINFO : 0);
  MUST(!sigaction(signal, &action, nullptr));
}

struct Work {
  void* (*work)(void*);
  void* arg;
};
std::atomic<int> begun{0};
std::atomic<bool> may_go{false};

void* begin(void* work_) {
  const Work work = *static_cast<Work*>(work_);
  ++begun;
  may_go.wait(false);
  return work.work(work.arg);
}

// Threads that are still beginning have other signal masks than later: all begin before any goes on.
pthread_t start(void* (*work)(void*), void* arg = nullptr) {
  pthread_t t;
  Work given{work, arg};
  const int before = begun;
  MUST(!pthread_create(&t, nullptr, begin, &given));
  while (begun == before) sched_yield();
  return t;
}

void tell() {
  printf("{\"wrong\": %d", wrong.load());
  for (int i = 0; executes && i < kFunctions; ++i)
    printf(", \"begun %s\": %llu", kNames[i], static_cast<unsigned long long>(tally->begun[i].load()));
  for (int i = 0; i < kFunctions; ++i)
    printf(", \"%s\": %llu", kNames[i], static_cast<unsigned long long>(tally->calls[i].load()));
  const std::pair<const char*, std::atomic<std::uint64_t>*> rest[] = {
      {"children", &tally->children},       {"thrown", &tally->thrown},   {"caught", &tally->caught},
      {"raised", &tally->raised},           {"trapped", &tally->trapped}, {"waits", &tally->waits},
      {"interrupted", &tally->interrupted}, {"signals", &tally->signals}, {"opened", &tally->opened},
      {"threads", &tally->threads}};
  for (const auto& [name, value] : rest) printf(", \"%s\": %llu", name, static_cast<unsigned long long>(value->load()));
  printf("}\n");
  fflush(stdout);
}

void* waits_for_the_end(void*) {
  sigset_t end;
  int signal;
  sigemptyset(&end);
  sigaddset(&end, SIGUSR1);
  while (!tally->ends && sigwait(&end, &signal)) continue;
  tally->ends = enough = true;
  for (pthread_t t : all) pthread_join(t, nullptr);
  while (executes && waitpid(-1, nullptr, 0) > 0) continue;  // children of programs that it was before
  RIGHT(executes || (tally->thrown == tally->caught && tally->raised == tally->trapped));
  RIGHT(tally->interrupted == 0);
  if (tally->wrong) wrong = 1;
  tell();
  _exit(wrong);
}

void map_tally(int fd) {
  tally_fd = fd;
  void* map = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  MUST(map != MAP_FAILED);
  tally = static_cast<Tally*>(map);
}

int make_tally() {
  const int fd = memfd_create("tally", 0);
  MUST(!ftruncate(fd, sizeof(Tally)));
  char number[16];
  snprintf(number, sizeof number, "%d", fd);
  MUST(!setenv("FADE_CHAOS_TALLY", number, 1));
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  MUST(argc > 2);
  if (!strcmp(argv[1], "child")) {
    map_tally(atoi(argv[2]));
    executes = getenv("FADE_CHAOS_EXECUTES") != nullptr;
    return child(2);
  }
  const auto is_on = [modes = argv[1]](char mode) { return strchr(modes, mode) != nullptr; };
  own_arguments = argv;
  executes = is_on('e');
  const char* const inherited = executes ? getenv("FADE_CHAOS_TALLY") : nullptr;
  if (executes) MUST(!setenv("FADE_CHAOS_EXECUTES", "1", 1));
  map_tally(inherited ? atoi(inherited) : make_tally());
  signal(SIGTERM, SIG_IGN);
  sigset_t ends, user;
  sigemptyset(&ends);
  sigaddset(&ends, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  handle(SIGUSR2, calls_in_handler, nullptr);
  is_crowd = atoi(argv[2]) > 8;
  if (is_crowd) rounds_of_an_allocation = 20;
  if (is_on('B')) handle(SIGTRAP, nullptr, trapped);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(atoi(argv[2])); ++i)
    callers.push_back(start(is_on('b') && i % 2 == 0 ? calls_with_all_blocked : calls, reinterpret_cast<void*>(i + 1)));
  all = callers;
  sigemptyset(&user);
  sigaddset(&user, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &user, nullptr);
  const std::pair<char, void* (*)(void*)> kinds[] = {{'f', forks},
                                                     {'x', exceptions},
                                                     {'p', waits},
                                                     {'B', raises_traps},
                                                     {'l', opens_and_closes},
                                                     {'c', threads_come_and_go},
                                                     {'g', sends_signals},
                                                     {'k', children_without_handlers},
                                                     {'e', executes_itself}};
  for (const auto& [mode, work] : kinds)
    if (is_on(mode)) all.push_back(start(work, mode == 'l' ? argv[3] : nullptr));
  if (is_on('m')) all.push_back(pthread_self());
  start(waits_for_the_end);
  may_go = true;
  may_go.notify_all();
  if (!inherited) printf("ready %d\n", getpid());
  fflush(stdout);
  if (executes && is_for_the_first_thread()) execute_self();
  if (is_on('m')) calls(reinterpret_cast<void*>(99));
  while (!is_on('L') && !is_on('m')) pause();
  pthread_exit(nullptr);
}
