// The facts in /proc that decide which users may trace a process. The folder is a parameter so that every case can be
// tested. Nothing in it is trusted to be whole.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade::service {

using NamespaceId = std::pair<dev_t, ino_t>;

struct ProcessStatus {
  Pid pid = 0;
  Pid group = 0;  // thread group id: another one where `pid` is a thread
  char state = '?';
  std::string name;             // comm
  std::array<uid_t, 4> uids{};  // real, effective, saved, of files
  std::array<gid_t, 4> gids{};
  std::uint64_t start_ticks = 0;
  bool has_program = false;  // kernel threads have none
  bool dumpable = false;
  NamespaceId user_namespace{};
};

// Fails with ESRCH if there is no such process, or if it cannot be looked at.
Result<ProcessStatus> read_status(Pid pid, const std::string& proc = "/proc");

Result<NamespaceId> own_user_namespace(const std::string& proc = "/proc");
// 0 if the kernel has no Yama.
int yama_scope(const std::string& proc = "/proc");
// Start of the process in clock ticks since boot; 0 if there is none.
std::uint64_t start_ticks(Pid pid, const std::string& proc = "/proc");

Result<Fd> open_pidfd(Pid pid);
// True as soon as all threads of the process have ended. Safe against reuse of its number, unlike fade::has_ended().
bool has_exited(const Fd& pidfd);

}  // namespace fade::service
