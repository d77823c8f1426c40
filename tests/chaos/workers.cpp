#include "workers.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include <cerrno>
#include <stdexcept>

namespace chaos {

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

namespace {

void throws(void* depth_) {
  int depth = *static_cast<int*>(depth_) - 1;
  if (depth <= 0) throw std::runtime_error("through the call");
  const Counted counted(HostFunction);
  hipLaunchHostFunc(nullptr, throws, &depth);
}

}  // namespace

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

namespace {

thread_local bool raises = false;

}  // namespace

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

}  // namespace chaos
