// Translates the ids of a batch into names: processes, threads, functions, and each stack's line in the user's code.
// Bounded by the number of ids that the tracing side sends. One thread.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "base/pid.hpp"
#include "probes/probe.hpp"

namespace fade::live {

struct ProcessNames {
  Pid pid = 0;
  std::string label;  // "python3 train.py (rank 1, pid 5993)"
};
struct ThreadNames {
  Tid tid = 0;
  ProcessId process = 0;
};
struct FunctionNames {
  probes::ProbePtr probe;  // null: unknown
  int library_major = 0;
};

class LiveNames {
 public:
  // `folder`: files below it are named relative to it.
  explicit LiveNames(std::string folder) : folder_(std::move(folder)) {}

  void on(const Notice& notice);

  // Default values for an unknown id.
  ProcessNames process(ProcessId id) const;
  ThreadNames thread(ThreadId id) const { return id.value() < threads_.size() ? threads_[id.value()] : ThreadNames{}; }
  FunctionNames function(FunctionId id) const {
    return id.value() < functions_.size() ? functions_[id.value()] : FunctionNames{};
  }
  // "train.py:42 step" of the innermost Python frame in the user's own code, else of the innermost Python frame; empty:
  // there is none.
  std::string line_of(StackId stack) const;

 private:
  // The lines of a stack, or of the stacks below a frame.
  struct Lines {
    FrameId user = 0, python = 0;
  };
  struct PythonFrame {
    std::uint32_t text = 0;  // index into texts_
    bool is_user = false;
  };
  void take(const FrameSeen& frame);
  void take(const StackSeen& stack);
  void take_process(ProcessId id, Pid pid, const std::vector<std::string>& command,
                    const std::vector<std::pair<std::string, std::string>>& environment);

  const std::string folder_;
  std::unordered_map<ProcessId, ProcessNames> processes_;
  std::vector<ThreadNames> threads_;
  std::vector<FunctionNames> functions_;
  std::unordered_map<FrameId, PythonFrame> frames_;  // Python frames only
  std::vector<std::string> texts_;
  std::vector<Lines> lines_;  // by stack
};

}  // namespace fade::live
