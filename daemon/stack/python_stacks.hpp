// What a CPython interpreter of another process executes in its threads, read from the process' memory. Nothing runs in the
// process. CPython 3.10 to 3.12 by tables, later ones by what they say of themselves (_Py_DebugOffsets).
//
// With native frames: each run of the evaluation loop is one native frame (is_evaluation) and stands for Python frames up to
// and including the next one marked `entry`. Where a thread is caught entering or leaving the loop, a native frame may have none: the
// groups are then to be counted from the outermost.
//
// Trusts nothing it reads. Only the stopped thread's own part is sure to stand still: what other threads change meanwhile gives
// a shorter stack. One thread at a time; keeps what it has read of code objects (a few MB at most).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"
#include "elf/dynamic_image.hpp"
#include "stack/stack_evidence.hpp"

namespace fade {

struct PythonFrame {
  std::uint64_t code = 0;        // address of the code object; 0: the loop runs without a frame (a finalizer's caller, say): leave it out
  std::int32_t instruction = 0;  // byte offset into its bytecode; negative: not begun
  bool entry = false;            // the evaluation loop's native frame ends with this frame: native frames go on behind it
  bool generator = false;        // of a generator or coroutine
};

class PythonStacks {
 public:
  struct Place {
    std::uint32_t id = 0;        // the same number is the same place for as long as the PythonStacks lives
    std::string function, file;  // qualified name (before 3.11 the name); UTF-8, as the program gave it: escape it before it is shown
    int line = 0;                // 0: none is known
  };

  // Whether `image` (the program itself or a library) holds an interpreter; nullopt: none. An error names one that cannot be read
  // (free-threaded, debug build, unknown version) in words for the user. `image` and `memory` are not kept.
  static Result<std::optional<PythonStacks>> in(const elf::DynamicImage& image, const Memory& memory);
  PythonStacks(PythonStacks&&) noexcept;
  PythonStacks& operator=(PythonStacks&&) noexcept;
  ~PythonStacks();

  const std::string& version() const;  // "3.11.2", or "3.10" where it tells no more

  // `pc` lies in the evaluation loop or in a part of it that the compiler put elsewhere. For return addresses ask for the byte before.
  bool is_evaluation(RemoteAddr pc) const;

  // What is worth reading together with the stack of the thread: known from its last stack, at most kMostWanted ranges. They may be gone.
  static constexpr std::size_t kMostWanted = 20;
  std::vector<RemoteRange> wanted(std::uint64_t fs_base) const;
  // Some of it is gone.
  void forget_wanted(std::uint64_t fs_base);

  // Of the stopped thread whose thread pointer is `fs_base`: innermost first, at most `limit`. Empty: Python has nothing to do with
  // it. `memory` may be a snapshot in front of the process. Two to four reads once the thread is known. What the frames rest on is added
  // to `evidence`.
  std::vector<PythonFrame> frames(std::uint64_t fs_base, const Memory& memory, std::size_t limit = 256, StackEvidence* evidence = nullptr);

  // Where a frame of the last frames() is. Valid until the next call of place(). `evidence` is that of frames(), or none.
  const Place& place(const PythonFrame& frame, const Memory& memory, StackEvidence* evidence = nullptr);

  // The clock that StackEvidence::until() is on.
  static std::uint64_t clock_ms();

 private:
  struct State;
  explicit PythonStacks(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade
