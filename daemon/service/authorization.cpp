#include "service/authorization.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ipc/json.hpp"

namespace fade::service {
namespace {

constexpr int kYamaOnlyCapable = 2, kYamaOff = 3;

std::string shown(const ProcessStatus& status) {
  return fmt::format("process {} ({})", status.pid, ipc::one_line(status.name));
}

tl::unexpected<Error> refuse(const ProcessStatus& status, std::string cause, std::string fix, int code = EPERM) {
  return fail(fmt::format("cannot attach to {}", shown(status)), std::move(cause), std::move(fix), code);
}

// Processes that no user may trace.
Result<void> can_be_traced(const ProcessStatus& status, int yama_scope) {
  if (status.group != status.pid)
    return refuse(status, fmt::format("it is a thread of process {}", status.group),
                  fmt::format("fadectl attach {}", status.group), ESRCH);
  if (status.state == 'Z' || status.state == 'X') return refuse(status, "it has ended", {}, ESRCH);
  if (!status.has_program) return refuse(status, "it is a thread of the kernel, or cannot be looked at", {}, ENOTSUP);
  if (yama_scope >= kYamaOff)
    return refuse(status, "kernel.yama.ptrace_scope is 3: tracing is off until the next boot", {});
  return {};
}

// Real, effective and saved id as ptrace(2) asks; that of files too, which follows the effective one unless set apart.
Result<void> belongs_to(const ipc::Peer& peer, const ProcessStatus& status) {
  const std::string fix = fmt::format("sudo fadectl attach {}", status.pid);
  const auto other_uid = std::ranges::find_if(status.uids, [&](uid_t uid) { return uid != peer.uid; });
  if (other_uid != status.uids.end())
    return refuse(status, fmt::format("it runs as user {}, you are user {}", *other_uid, peer.uid), fix);
  const auto other_gid =
      std::find_if(status.gids.begin(), status.gids.end() - 1, [&](gid_t gid) { return gid != peer.gid; });
  if (other_gid != status.gids.end() - 1)
    return refuse(status, fmt::format("it runs as group {}, you are group {}", *other_gid, peer.gid), fix);
  return {};
}

}  // namespace

Result<void> may_trace(const ipc::Peer& peer, const ProcessStatus& status, NamespaceId ours, int yama_scope) {
  if (auto can = can_be_traced(status, yama_scope); !can || peer.is_root()) return can;
  const std::string fix = fmt::format("sudo fadectl attach {}", status.pid);
  if (auto belongs = belongs_to(peer, status); !belongs) return belongs;
  if (status.user_namespace != ours)
    return refuse(status, "it is in another user namespace (a rootless container)", fix);
  if (!status.dumpable)
    return refuse(status, "it is a set-uid program or has forbidden to be looked at (not dumpable)", fix);
  if (yama_scope == kYamaOnlyCapable) return refuse(status, "kernel.yama.ptrace_scope is 2: only root may trace", fix);
  return {};
}

Result<Target> authorize(const ipc::Peer& peer, Pid pid, const std::string& proc) {
  auto pidfd = open_pidfd(pid);
  if (!pidfd) return tl::unexpected(std::move(pidfd.error()));
  auto status = read_status(pid, proc);
  if (!status) return tl::unexpected(std::move(status.error()));
  Target target{std::move(*pidfd), std::move(*status)};
  if (auto allowed = still_allowed(peer, target, proc); !allowed) return tl::unexpected(std::move(allowed.error()));
  return target;
}

Result<void> still_allowed(const ipc::Peer& peer, const Target& target, const std::string& proc) {
  const auto ours = own_user_namespace(proc);
  if (!ours) return tl::unexpected(ours.error());
  const auto now = read_status(target.status.pid, proc);
  if (!now) return tl::unexpected(now.error());
  if (auto allowed = may_trace(peer, *now, *ours, yama_scope(proc)); !allowed) return allowed;
  // The number may have been given to another process while we looked; this one was alive until here if it is now.
  if (now->start_ticks == 0 || now->start_ticks != target.status.start_ticks || has_exited(target.pidfd))
    return refuse(target.status, "it ended meanwhile", {}, ESRCH);
  return {};
}

}  // namespace fade::service
