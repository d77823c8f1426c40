#include "checked_calls.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <type_traits>

extern "C" long guarded(void* function, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
                        std::uint64_t* broken);
extern "C" std::uint64_t spin(std::uint64_t rounds);

namespace chaos {

Tally* tally;
int tally_fd;
std::atomic<bool> enough{false};
std::atomic<int> wrong{0};
bool executes;
bool is_crowd;
int rounds_of_an_allocation = 1;

namespace {

thread_local std::atomic<std::uint64_t> mine[kFunctions];

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

// Functions that only ask may be left to a gate (--budget). Another thread may have put work into the stream.
void ask_some_times() {
  for (int i = 0; i < 4; ++i) {
    const hipError_t answer = call(Query, hipStreamQuery, nullptr);
    RIGHT(answer == hipSuccess || answer == hipErrorNotReady);
  }
}

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
  ask_some_times();
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

}  // namespace

void complain(const char* what, int line) {
  wrong = 1;
  if (tally) tally->wrong = true;
  fprintf(stderr, "%d: %s: %m\n", line, what);
}

void add_up() {
  for (int i = 0; i < kFunctions; ++i) tally->calls[i] += mine[i].exchange(0);
}

void forget_counts() {
  for (std::atomic<std::uint64_t>& count : mine) count = 0;
}

Counted::Counted(Function which) : which_(which) { ++(executes ? tally->begun[which_] : mine[which_]); }
Counted::~Counted() { tally->calls[which_] += executes; }

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

}  // namespace chaos
