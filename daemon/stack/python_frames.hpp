// The frames of a thread of CPython, from its memory.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/remote.hpp"
#include "stack/python_layout.hpp"
#include "stack/python_stacks.hpp"
#include "stack/python_threads.hpp"
#include "stack/stack_evidence.hpp"

namespace fade {

class PythonFrames {
 public:
  explicit PythonFrames(const PythonLayout& layout) : layout_(layout) {}

  // See PythonStacks::frames(). `is_internal` is true for code that no traceback shows.
  std::vector<PythonFrame> of(const PythonThread& thread, const Memory& memory, std::size_t limit,
                              const std::function<bool(std::uint64_t code)>& is_internal,
                              StackEvidence* evidence = nullptr);
  // The part of the frames' memory that the last call read in one go; empty: none.
  RemoteRange window() const { return {begin_, begin_ + window_.size()}; }
  // Further ranges of the last call: single frames, and chunks before that window. The first few only.
  const std::vector<RemoteRange>& others() const { return others_; }

 private:
  struct Raw {
    std::uint64_t reference, code, previous, instruction;  // the reference to the code may have marks
    std::uint8_t owner, is_entry;
    bool generator;
  };

  RemoteAddr innermost(const PythonThread& thread, const Memory& memory, StackEvidence* evidence) const;
  std::optional<Raw> read(RemoteAddr frame, const Memory& memory);
  Raw decode(std::span<const std::byte> bytes) const;
  void widen(RemoteAddr frame, const Memory& memory);
  void next_chunk(RemoteAddr frame, const Memory& memory);
  PythonFrame frame(const Raw& raw) const;
  bool take_shim(const Raw& raw, std::vector<PythonFrame>& out) const;
  void keep(RemoteRange other);
  void rest_on(RemoteAddr frame, const Raw& raw, StackEvidence& evidence) const;

  PythonLayout layout_;
  RemoteAddr chunk_;  // holds the innermost of the remaining frames
  RemoteAddr begin_;  // the address of window_
  std::vector<std::byte> window_;
  std::vector<RemoteRange> others_;
};

}  // namespace fade
