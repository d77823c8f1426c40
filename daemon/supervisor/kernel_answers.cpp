#include "supervisor/kernel_answers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/trial.hpp"

namespace fade {
namespace {

constexpr int kDeepest = 33;  // user namespaces below one another: the kernel allows 32

bool same_file(int a, int b) {
  struct stat one {
  }, other{};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

bool is_owned(int user_namespace) {
  uid_t owner = 0;
  return ::ioctl(user_namespace, NS_GET_OWNER_UID, &owner) == 0 && owner == ::geteuid();
}

// As the kernel's cap_capable() goes: up from the other's namespace until ours is the parent.
UserNamespace user_namespace_of(Pid pid) {
  const Fd ours(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  Fd at(::open(fmt::format("/proc/{}/ns/user", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!ours || !at) return ours && (errno == EACCES || errno == EPERM) ? UserNamespace::Closed : UserNamespace::Unknown;
  if (same_file(ours.get(), at.get())) return UserNamespace::Same;
  for (int depth = 0; depth < kDeepest; ++depth) {
    Fd parent(::ioctl(at.get(), NS_GET_PARENT));
    if (!parent) return errno == EPERM ? UserNamespace::Foreign : UserNamespace::Unknown;  // EPERM: beyond our view
    if (same_file(parent.get(), ours.get()))
      return is_owned(at.get()) ? UserNamespace::NestedOwned : UserNamespace::Nested;
    at = std::move(parent);
  }
  return UserNamespace::Unknown;
}

std::optional<int> trial() {
  // Our tracer may take every child of ours for its own, which then cannot be traced a second time.
  if (ProcFiles("/proc").status(own_pid()).tid("TracerPid") != 0) return std::nullopt;
  return try_tracing();
}

std::string active_modules() {
  std::string out = read_bounded("/sys/kernel/security/lsm", 4096).value_or("");
  out.erase(std::min(out.find('\n'), out.size()));
  return out;
}

}  // namespace

KernelAnswers KernelAnswers::real() {
  return {.signal = [](Pid pid) { return ::kill(pid.value(), 0) == 0 ? 0 : errno; },
          .trace_me = trial,
          .user_namespace = user_namespace_of,
          .security_modules = active_modules()};
}

}  // namespace fade
