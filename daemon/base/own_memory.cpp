#include "base/own_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

constexpr rlim_t kToBegin = rlim_t{160} << 20;  // free: 40 MiB are used by a run of nothing, libraries of a GPU stack take more
constexpr rlim_t kToLetGo = rlim_t{48} << 20;   // free: what taking leave of a large program needs

constexpr const char* kFix = "ulimit -v unlimited; or limit the program alone: fade-run -- sh -c 'ulimit -v LIMIT; exec COMMAND'";

struct Limit {
  __rlimit_resource what;
  rlimit given{};
  bool is_changed = false;
};
std::array<Limit, 2> limits{{{RLIMIT_AS}, {RLIMIT_DATA}}};
int end_status = 1;
const char* end_consequence = "";

// Only who has CAP_SYS_RESOURCE may go beyond the hard limit.
bool raise(__rlimit_resource what, const rlimit& given) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY}, most{given.rlim_max, given.rlim_max};
  return ::setrlimit(what, &all) == 0 || (given.rlim_cur != given.rlim_max && ::setrlimit(what, &most) == 0);
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

void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

}  // namespace

void take(int status, const char* consequence) {
  end_status = status;
  end_consequence = consequence;
  std::set_new_handler(ran_out);
  for (Limit& limit : limits)
    if (::getrlimit(limit.what, &limit.given) == 0 && limit.given.rlim_cur != RLIM_INFINITY) limit.is_changed = raise(limit.what, limit.given);
}

void give_back() {
  for (const Limit& limit : limits)
    if (limit.is_changed) ::setrlimit(limit.what, &limit.given);
}

Result<void> check() {
  const auto free = left();
  if (!free || *free >= kToBegin) return {};
  return fail("fade has too little memory", fmt::format("the address space of this shell's programs is limited to {} MiB (ulimit -v), and fade needs {} MiB more than it has", allowed() >> 20, ((kToBegin - *free) >> 20) + 1),
              kFix);
}

bool is_scarce() {
  const auto free = left();
  return free && *free < kToLetGo;
}

Error scarcity() {
  return {"memory runs short: the program goes on without fade", fmt::format("the address space of this shell's programs is limited to {} MiB (ulimit -v), and fade has used most of it", allowed() >> 20), kFix, ENOMEM};
}

// Nothing here may ask for memory.
void ran_out() {
  if (log::level() >= log::Level::Error) {
    say("fade: out of memory");
    say(end_consequence);
    say("\n  cause: the machine has no more, or a limit (ulimit -v, a container's) allows no more\n  fix:   ulimit -v unlimited\n");
  }
  ::_exit(end_status);
}

}  // namespace fade::own_memory
