#include "ptrace/interrupted.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

namespace fade {
namespace {

// include/linux/errno.h: programs never see it.
constexpr long kRestartBlock = -516;  // ERESTART_RESTARTBLOCK
constexpr long kRestart[] = {-512 /* ERESTARTSYS */, -513 /* ERESTARTNOINTR */, -514 /* ERESTARTNOHAND */,
                             kRestartBlock};
// The last two lines: on a socket with SO_RCVTIMEO or SO_SNDTIMEO.
constexpr long kEndsByStop[] = {SYS_epoll_wait,
                                SYS_epoll_pwait,
                                441 /* epoll_pwait2 */,
                                SYS_semop,
                                SYS_semtimedop,
                                SYS_rt_sigtimedwait,
                                SYS_io_getevents,
                                333 /* io_pgetevents */,
                                426 /* io_uring_enter */,
                                SYS_read,
                                SYS_readv,
                                SYS_recvfrom,
                                SYS_recvmsg,
                                SYS_recvmmsg,
                                SYS_accept,
                                SYS_accept4,
                                SYS_write,
                                SYS_writev,
                                SYS_sendto,
                                SYS_sendmsg,
                                SYS_sendmmsg,
                                SYS_connect};

Registers at_the_call(const Registers& stopped) {
  Registers out = stopped;
  out.rip -= 2;  // the length of `syscall`
  out.rax = stopped.orig_rax;
  out.orig_rax = ~std::uint64_t{0};
  return out;
}

bool is_in(std::span<const long> list, std::uint64_t value) {
  return std::ranges::find(list, static_cast<long>(value)) != list.end();
}

bool in_system_call(const Registers& r) { return r.is_64_bit() && static_cast<long>(r.orig_rax) >= 0; }

}  // namespace

std::optional<Registers> begun_again(const Registers& stopped) {
  if (!in_system_call(stopped) || !is_in(kRestart, stopped.rax)) return std::nullopt;
  return at_the_call(stopped);
}

std::optional<Registers> called_once_more(const Registers& stopped) {
  if (!in_system_call(stopped) || static_cast<long>(stopped.rax) != -EINTR || !is_in(kEndsByStop, stopped.orig_rax))
    return std::nullopt;
  return at_the_call(stopped);
}

bool wants_restart_syscall(const Registers& stopped) {
  return in_system_call(stopped) && static_cast<long>(stopped.rax) == kRestartBlock;
}

}  // namespace fade
