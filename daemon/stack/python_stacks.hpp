// The Python frames that a CPython interpreter of another process executes in its threads, read from the process's
// memory. No code runs in the process. CPython 3.10 to 3.12 are read by tables, later versions by their own offsets
// (_Py_DebugOffsets).
//
// With native frames: each run of the evaluation loop is one native frame (is_evaluation). It is replaced by Python
// frames up to and including the next frame marked `entry`. If a thread is just entering or leaving the loop, a native
// frame may have no Python frames. The groups are then counted from the outermost.
//
// Nothing that is read is trusted. Only the stopped thread's own data is sure to be stable; changes by other threads
// give a shorter stack. One thread at a time. Keeps the code objects that were read (a few MB at most).
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
  // address of the code object; 0: the loop runs without a frame (such as a finalizer's caller): leave it out
  std::uint64_t code = 0;
  std::int32_t instruction = 0;  // byte offset into its bytecode; negative: not started
  bool entry = false;            // the evaluation loop's native frame ends with this frame; native frames follow
  bool generator = false;        // of a generator or coroutine
};

class PythonStacks {
 public:
  struct Place {
    std::uint32_t id = 0;  // the same number means the same place during the life of the PythonStacks
    // qualified name (before 3.11 the name); UTF-8 from the program: escape it before it is shown
    std::string function, file;
    int line = 0;  // 0: unknown
  };

  // Finds an interpreter in `image` (the program itself or a library); nullopt: none. The Error names an unsupported
  // interpreter (free-threaded, debug build, unknown version) in words for the user. `image` and `memory` are not kept.
  static Result<std::optional<PythonStacks>> in(const elf::DynamicImage& image, const Memory& memory);
  PythonStacks(PythonStacks&&) noexcept;
  PythonStacks& operator=(PythonStacks&&) noexcept;
  ~PythonStacks();

  const std::string& version() const;  // "3.11.2", or "3.10" if the patch level is unknown

  // True if `pc` is in the evaluation loop or in a part of it that the compiler moved. For a return address pass the
  // byte before.
  bool is_evaluation(RemoteAddr pc) const;

  // Ranges to read together with the stack of the thread: known from its last stack, at most kMostWanted ranges. Some
  // may be unmapped by now.
  static constexpr std::size_t kMostWanted = 20;
  std::vector<RemoteRange> wanted(std::uint64_t fs_base) const;
  // Forgets the ranges after a read failed.
  void forget_wanted(std::uint64_t fs_base);

  // The frames of the stopped thread whose thread pointer is `fs_base`: innermost first, at most `limit`. Empty if the
  // thread has no Python state. `memory` may be a snapshot in front of the process. Two to four reads once the thread
  // is known. The memory that the frames depend on is added to `evidence`.
  std::vector<PythonFrame> frames(std::uint64_t fs_base, const Memory& memory, std::size_t limit = 256,
                                  StackEvidence* evidence = nullptr);

  // The place of a frame of the last frames(). Valid until the next call of place(). `evidence` is the evidence of
  // frames(), or none.
  const Place& place(const PythonFrame& frame, const Memory& memory, StackEvidence* evidence = nullptr);

  // The clock of StackEvidence::until().
  static std::uint64_t clock_ms();

 private:
  struct State;
  explicit PythonStacks(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade
