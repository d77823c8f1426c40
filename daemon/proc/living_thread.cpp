#include "proc/living_thread.hpp"

#include <algorithm>

namespace fade {
namespace {

bool is_over(const StatFile& stat) {
  const std::string_view state = stat.word(StatFile::State);
  return state.empty() || state == "Z" || state == "X";
}

}  // namespace

bool has_ended(Tid tid, const ProcFiles& proc) { return is_over(proc.stat(tid)); }

Tid living_thread(TaskId task, const ProcFiles& proc) {
  if (!has_ended(task.thread(), proc)) return task.thread();
  const auto threads = proc.threads(task);
  const auto living = std::ranges::find_if(threads, [&](Tid tid) {
    return !is_over(StatFile(proc.read(task, "task/" + std::to_string(tid.value()) + "/stat")));
  });
  return living == threads.end() ? task.thread() : *living;
}

}  // namespace fade
