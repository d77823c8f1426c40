// The longest stretches in which a process made no GPU call: none of its threads was in one. What fade cannot see is whether the GPU
// had work left from before. A few hundred are kept per process while it runs, so that no report has to look through all calls.
#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>

#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class IdleBook {
 public:
  struct Call {  // an outermost one
    RowId call = 0, process = 0;
    std::int64_t entry = 0, exit = 0;
    bool is_open = false;  // it never returned, and may have been running to the end
  };

  IdleBook(sqlite::Db& db, Failure& failure);

  void begin_process(RowId process, std::int64_t at);
  void call(const Call& call);
  void end_process(RowId process, std::int64_t at);
  void end_recording(std::int64_t at);
  void flush();

 private:
  struct Gap {
    std::int64_t to = 0;
    RowId before = 0, after = 0;  // calls; 0: the begin or the end of the process
  };
  struct Process {
    std::int64_t busy_until = 0;
    RowId last = 0;  // the call that ended then
    bool has_calls = false, changed = false;
    std::map<std::int64_t, Gap> gaps;  // by their begin; they do not overlap
  };

  static void add(Process& process, std::int64_t from, const Gap& gap);
  static void cover(Process& process, const Call& call);
  void write(RowId row, Process& process);

  std::unordered_map<RowId, Process> processes_;
  RowId last_row_ = 0;
  Process* last_ = nullptr;  // of that row, in processes_, whose elements stay where they are
  Write clear_, idle_;
};

}  // namespace fade::store
