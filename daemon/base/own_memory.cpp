#include "base/own_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/fd.hpp"
#include "base/log.hpp"

namespace fade::own_memory {
namespace {

constexpr rlim_t kToBegin = rlim_t{160} << 20;  // free: an empty run uses 40 MiB, libraries of a GPU stack need more
constexpr rlim_t kToLetGo = rlim_t{48} << 20;   // free: enough to detach from a large program

constexpr rlim_t kStack = rlim_t{8} << 20, kLeastStack = rlim_t{512} << 10;  // 128 KiB were too little
constexpr std::size_t kThreadStack = std::size_t{2} << 20;

constexpr const char* kFix =
    "ulimit -v unlimited; or limit the program alone: fade-run -- sh -c 'ulimit -v LIMIT; exec COMMAND'";

struct Limit {
  __rlimit_resource what;
  rlim_t enough;
  rlimit given{};
  bool is_changed = false;
};
std::array<Limit, 3> limits{{{RLIMIT_AS, RLIM_INFINITY}, {RLIMIT_DATA, RLIM_INFINITY}, {RLIMIT_STACK, kStack}}};
int end_status = 1;
const char* end_consequence = "";
void (*restore_before_end)() = nullptr;

// Only a process with CAP_SYS_RESOURCE may exceed the hard limit.
bool raise(const Limit& limit) {
  const rlimit& given = limit.given;
  const rlimit all{limit.enough, std::max(limit.enough, given.rlim_max)},
      most{std::min(limit.enough, given.rlim_max), given.rlim_max};
  return ::setrlimit(limit.what, &all) == 0 || (given.rlim_cur != most.rlim_cur && ::setrlimit(limit.what, &most) == 0);
}

rlim_t allowed() {
  rlimit now{};
  return ::getrlimit(RLIMIT_AS, &now) == 0 ? now.rlim_cur : RLIM_INFINITY;
}

// nullopt: no limit.
std::optional<rlim_t> left() {
  const rlim_t limit = allowed();
  if (limit == RLIM_INFINITY) return std::nullopt;
  std::array<char, 64> text{};
  const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return std::nullopt;
  const rlim_t used = std::strtoull(text.data(), nullptr, 10) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  return limit - std::min(limit, used);
}

// libc took the size of new threads' stacks from the limit at the start of this program.
void give_threads_a_stack() {
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (::pthread_getattr_default_np(&attributes) != 0) return;
  if (::pthread_attr_getstacksize(&attributes, &size) == 0 && size < kThreadStack &&
      ::pthread_attr_setstacksize(&attributes, kThreadStack) == 0)
    ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

Result<void> check_stack() {
  rlimit now{};
  if (::getrlimit(RLIMIT_STACK, &now) != 0 || now.rlim_cur >= kLeastStack) return {};
  return fail("fade has too little memory",
              fmt::format("the stack of this shell's programs is limited to {} KiB (ulimit -s), and fade needs {}",
                          now.rlim_cur >> 10, kLeastStack >> 10),
              "ulimit -s 8192; or limit the program alone: fade-run -- sh -c 'ulimit -s LIMIT; exec COMMAND'");
}

void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

}  // namespace

void take(int status, const char* consequence) {
  end_status = status;
  end_consequence = consequence;
  std::set_new_handler(ran_out);
  for (Limit& limit : limits)
    if (::getrlimit(limit.what, &limit.given) == 0 && limit.given.rlim_cur < limit.enough)
      limit.is_changed = raise(limit);
  give_threads_a_stack();
}

void change_consequence(const char* consequence) { end_consequence = consequence; }

void before_end(void (*restore)()) { restore_before_end = restore; }

void give_back() {
  for (const Limit& limit : limits)
    if (limit.is_changed) ::setrlimit(limit.what, &limit.given);
}

Result<void> check() {
  if (auto stack = check_stack(); !stack) return stack;
  const auto free = left();
  if (!free || *free >= kToBegin) return {};
  return fail("fade has too little memory",
              fmt::format("the address space of this shell's programs is limited to {} MiB (ulimit -v), and fade needs "
                          "{} MiB more than it has",
                          allowed() >> 20, ((kToBegin - *free) >> 20) + 1),
              kFix);
}

bool is_scarce() {
  const auto free = left();
  return free && *free < kToLetGo;
}

Error scarcity() {
  return {
      "memory runs short: the program goes on without fade",
      fmt::format(
          "the address space of this shell's programs is limited to {} MiB (ulimit -v), and fade has used most of it",
          allowed() >> 20),
      kFix, ENOMEM};
}

// Must not allocate memory.
void ran_out() {
  if (restore_before_end != nullptr) restore_before_end();
  if (log::level() >= log::Level::Error) {
    say("fade: out of memory");
    say(end_consequence);
    say("\n  cause: the machine has no more, or a limit (ulimit -v, a container's) allows no more\n  fix:   ulimit -v "
        "unlimited\n");
  }
  ::_exit(end_status);
}

}  // namespace fade::own_memory
