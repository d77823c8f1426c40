// Native and Python frames of one thread as one stack. Pure.
#pragma once
#include <span>
#include <vector>

#include "stack/native_walk.hpp"
#include "stack/python_stacks.hpp"

namespace fade {

struct MergedFrame {
  // Lost: Python frames follow whose place is unknown
  enum class Kind : std::uint8_t { Native, Python, Lost } kind = Kind::Native;
  NativeFrame native;  // Native
  PythonFrame python;  // Python
};

// Removes the marks of `surplus` entries that belong to no run of the loop. An exception thrown into a generator that
// waits for another one (yield from, await) goes to the inner generator directly. The outer generator does not run
// then, and its mark is from its last run.
inline void unmark_thrown_through(std::vector<PythonFrame>& python, std::size_t surplus) {
  bool is_behind_generator = false;
  for (PythonFrame& frame : python) {
    const bool is_passed = is_behind_generator && frame.entry && frame.generator && surplus > 0;
    is_behind_generator = frame.entry && frame.generator;
    surplus -= is_passed;
    if (is_passed) frame.entry = false;
  }
}

// `native`: all native frames, innermost first; `is_whole`: up to the outermost. A native frame with is_evaluation(pc)
// is replaced by Python frames, up to and including the next entry. While a thread enters or leaves the loop, there are
// fewer such groups than native frames. The groups are then counted from the outermost, if it is known. Marks of
// `python` may be removed.
template <class IsEvaluation>
void merge(std::span<const NativeFrame> native, bool is_whole, std::vector<PythonFrame>& python,
           IsEvaluation&& is_evaluation, std::vector<MergedFrame>& out) {
  using Kind = MergedFrame::Kind;
  std::size_t loops = 0, groups = 0;
  for (const NativeFrame& frame : native) loops += is_evaluation(frame.pc);
  for (const PythonFrame& frame : python) groups += frame.entry;
  if (is_whole && groups > loops) unmark_thrown_through(python, groups - loops);
  std::size_t without = is_whole && loops > groups ? loops - groups : 0;
  std::size_t next = 0;
  const auto put_python = [&] {
    if (python[next].code != 0) out.push_back({Kind::Python, {}, python[next]});
    return python[next++].entry;
  };
  for (const NativeFrame& frame : native) {
    const bool is_loop = is_evaluation(frame.pc);
    if (!is_loop || next == python.size() || without > 0) {
      out.push_back({Kind::Native, frame, {}});
      without -= is_loop && without > 0;
      continue;
    }
    while (next < python.size() && !put_python()) continue;
  }
  if (next == python.size()) return;
  if (is_whole) out.push_back({Kind::Lost, {}, {}});
  while (next < python.size()) put_python();
}

}  // namespace fade
