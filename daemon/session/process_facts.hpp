// Facts about a process that are stored when it is first seen. Everything may be gone or lie: missing facts are empty.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "proc/proc_files.hpp"

namespace fade {

struct ProcessFacts {
  Pid ppid = 0;
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;
  std::string exe;
  std::vector<std::string> command;
  // Variables that say how the GPU stack behaves, and no others; values that look like secrets are replaced.
  std::vector<std::pair<std::string, std::string>> environment;
};
ProcessFacts read_process_facts(Pid pid, const ProcFiles& proc = ProcFiles());
Error process_gone(TaskId task);  // code ESRCH

// The owner of a process's memory: the process itself, or its maker (vfork(2), CLONE_VM). kcmp(2).
enum class Whose { Own, Shared, Unknown };
Whose memory_of(TaskId child, Tid maker);
bool shares_memory(TaskId child, Tid maker);

// Decides if an environment variable is stored, and which part of its value.
bool may_be_stored(const std::string& name);
std::string redacted(const std::string& name, const std::string& value);

}  // namespace fade
