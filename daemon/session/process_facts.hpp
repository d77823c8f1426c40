// What /proc tells about a process (proc(5)). Everything may be gone or lie: missing facts are empty.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"

namespace fade {

struct ProcessFacts {
  pid_t ppid = 0;
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;
  std::string exe;
  std::vector<std::string> command;
  // Variables that say how the GPU stack behaves, and no others; values that look like secrets are replaced.
  std::vector<std::pair<std::string, std::string>> environment;
};
ProcessFacts read_process_facts(pid_t pid);
Error process_gone(pid_t pid);  // code ESRCH

std::string read_thread_name(pid_t tid);
pid_t read_thread_group(pid_t tid);  // 0: unknown
pid_t read_parent(pid_t pid);        // 0: unknown

// In whose memory a process runs: its own, or its maker's (vfork(2), CLONE_VM). kcmp(2).
enum class Whose { Own, Shared, Unknown };
Whose memory_of(pid_t child, pid_t maker);
bool shares_memory(pid_t child, pid_t maker);
pid_t read_own_pid(pid_t pid);         // as the process itself knows it, in its namespace; 0: unknown
std::vector<pid_t> read_thread_ids(pid_t pid);  // what there is now; empty: no such process
std::optional<std::int64_t> read_cpu_ns(pid_t pid);  // used by all its threads so far, user and system
pid_t read_tracer(pid_t tid);                // 0: nobody
char read_state(pid_t tid);                  // of proc_pid_stat(5): R S D Z T t X I; 0: gone
// Signals as bits, number 1 the lowest.
struct SignalSets {
  std::uint64_t pending = 0, blocked = 0, ignored = 0, caught = 0;  // pending: for the thread or the process
  std::uint64_t pending_alone = 0;  // for the thread
};
SignalSets read_signal_sets(pid_t tid);
bool read_is_64_bit(pid_t pid);  // the program's file; true where it cannot be read
bool catches_signal(pid_t pid, int signal);  // there is a handler for it

// Of a 64-bit process, as the kernel gave it to the program (getauxval(3)).
struct AuxiliaryVector {
  RemoteAddr loader_base;  // AT_BASE; null: statically linked
  RemoteAddr entry;
  RemoteAddr program_headers;
  std::uint64_t program_header_count = 0;
  bool secure = false;  // AT_SECURE: set-uid, set-gid or capabilities
  bool has_other_ids = false;  // than who started it: the effective ones are not the real ones
};
// nullopt: it has ended, or we may not trace it.
std::optional<AuxiliaryVector> read_auxiliary_vector(pid_t pid, const Memory& memory);
// As far as the program has left it where it was put: for whoever may trace it but is another user, to whom the kernel does
// not open the file. `memory`: of that process.
std::optional<AuxiliaryVector> read_auxiliary_vector_on_stack(pid_t pid, const Memory& memory);

// Which environment variables are stored, and what of their values.
bool may_be_stored(const std::string& name);
std::string redacted(const std::string& name, const std::string& value);

}  // namespace fade
