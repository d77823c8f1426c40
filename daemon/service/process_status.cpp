#include "service/process_status.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "proc/proc_files.hpp"

namespace fade::service {
namespace {

// The kernel gives the files of a process that must not be dumped to root, for every user of the process.
bool is_dumpable(const std::string& environ, uid_t effective) {
  struct stat what {};
  return ::stat(environ.c_str(), &what) == 0 && what.st_uid == effective;
}

Result<NamespaceId> namespace_id(const std::string& path) {
  struct stat what {};
  if (::stat(path.c_str(), &what) != 0) return fail_errno("cannot look at " + path);
  return NamespaceId{what.st_dev, what.st_ino};
}

tl::unexpected<Error> no_such_process(Pid pid) {
  return fail(fmt::format("there is no process {}", pid), {}, "pgrep -a NAME", ESRCH);
}

}  // namespace

std::uint64_t start_ticks(Pid pid, const std::string& proc) {
  return ProcFiles(proc).stat(pid).number(StatFile::StartTime).value_or(0);
}

Result<ProcessStatus> read_status(Pid pid, const std::string& proc) {
  const ProcFiles files(proc);
  const StatusFile status = files.status(pid);
  const auto uids = status.ids("Uid"), gids = status.ids("Gid");
  if (!uids || !gids || status.state() == 0) return no_such_process(pid);
  ProcessStatus out{.pid = pid,
                    .group = status.pid("Tgid"),
                    .state = status.state(),
                    .name = std::string(status.value("Name")),
                    .uids = *uids,
                    .gids = *gids,
                    .start_ticks = start_ticks(pid, proc),
                    .has_program = !files.link(pid, "exe").empty(),
                    .dumpable = is_dumpable(files.path(pid, "environ"), (*uids)[1])};
  if (const auto id = namespace_id(files.path(pid, "ns/user"))) out.user_namespace = *id;
  return out;
}

Result<NamespaceId> own_user_namespace(const std::string& proc) { return namespace_id(proc + "/self/ns/user"); }

int yama_scope(const std::string& proc) {
  return std::atoi(ProcFiles(proc).read("sys/kernel/yama/ptrace_scope").c_str());
}

Result<Fd> open_pidfd(Pid pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid.value(), 0)));
  if (!fd && errno == ESRCH) return no_such_process(pid);
  if (!fd && errno == EINVAL) return fail(fmt::format("{} is a thread, not a process", pid), {}, {}, ESRCH);
  if (!fd) return fail_errno(fmt::format("cannot hold on to process {}", pid));
  return fd;
}

bool has_exited(const Fd& pidfd) {
  pollfd readable{pidfd.get(), POLLIN, 0};
  return ::poll(&readable, 1, 0) != 0;
}

}  // namespace fade::service
