#include "proc/living_thread.hpp"

#include <algorithm>

namespace fade {
namespace {

bool is_over(const StatFile& stat) {
  const std::string_view state = stat.word(StatFile::State);
  return state.empty() || state == "Z" || state == "X";
}

}  // namespace

bool has_ended(pid_t tid, const ProcFiles& proc) { return is_over(proc.stat(tid)); }

pid_t living_thread(pid_t pid, const ProcFiles& proc) {
  if (!has_ended(pid, proc)) return pid;
  const auto threads = proc.threads(pid);
  const auto living = std::ranges::find_if(
      threads, [&](pid_t tid) { return !is_over(StatFile(proc.read(pid, "task/" + std::to_string(tid) + "/stat"))); });
  return living == threads.end() ? pid : *living;
}

}  // namespace fade
