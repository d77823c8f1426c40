// The offsets in a CPython interpreter's objects, per version, in bytes. From 3.13 on the interpreter has a table of
// offsets at the start of _PyRuntime. The layout of this table differs from version to version.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/remote.hpp"
#include "base/result.hpp"
#include "elf/dynamic_image.hpp"

namespace fade {

struct PythonLayout {  // one row of a table with a row for each version: a field is an offset
  // how the first frame of an evaluation loop is recognised
  enum class Entry : std::uint8_t { EveryFrame, Flag, Shim };
  // counts two-byte units, or points into the code object
  enum class Instruction : std::uint8_t { Index, Pointer };
  enum class Lines : std::uint8_t { Pairs, Locations };  // PEP 626's table, or the one of 3.11 and later
  static constexpr std::uint8_t kFirstShimOwner = 3;     // FRAME_OWNED_BY_CSTACK, FRAME_OWNED_BY_INTERPRETER
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t minor = 0;
  std::uint32_t interpreters = 0;                                  // in _PyRuntime
  std::uint32_t interpreter_next = 0, threads = 0;                 // in PyInterpreterState
  std::uint32_t generation = kNone;                                // code_object_generation
  std::uint32_t thread_next = 0, thread_id = 0, thread_frame = 0;  // in PyThreadState
  std::uint32_t thread_previous = kNone;                           // in PyThreadState; kNone: no back link
  std::uint32_t chunk = kNone;                                     // the frames' memory, from 3.11 on
  // offset of the frame in the _PyCFrame that thread_frame points to
  std::uint32_t cframe_frame = kNone;
  std::uint32_t frame_code = 0, frame_previous = 0, frame_instruction = 0;
  std::uint32_t frame_owner = kNone;      // from 3.11 on
  std::uint32_t frame_generator = kNone;  // until 3.10: its generator, or null
  std::uint32_t frame_is_entry = kNone;   // 3.11 alone
  std::uint32_t file = 0, name = 0, qualified_name = 0, first_line = 0, line_table = 0,
                bytecode = 0;                                                         // in PyCodeObject
  std::uint32_t text_length = 16, text_state = 32, ascii_text = 0, compact_text = 0;  // in a str
  std::uint32_t bytes_size = 16, bytes_data = 32;                                     // in a bytes
  Entry entry = Entry::Shim;
  Instruction instruction = Instruction::Pointer;
  Lines lines = Lines::Locations;
  bool has_base_frame = false;        // the outermost frame is a shim that belongs to no evaluation loop
  std::uint64_t object_mask = ~0ull;  // a frame's reference to its code may have marks in the low bits

  // bytes from the start of a frame, a thread state or a code object that hold all offsets above
  std::uint32_t frame_size() const;
  std::uint32_t thread_size() const;
  std::uint32_t code_size() const;
};

struct PythonInterpreter {
  PythonLayout layout;
  RemoteAddr runtime;  // _PyRuntime
  std::string version;
};

// See PythonStacks::in().
Result<std::optional<PythonInterpreter>> find_python(const elf::DynamicImage& image, const Memory& memory);

}  // namespace fade
