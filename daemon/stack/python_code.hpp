// The code objects of an interpreter: their names, and the line of each instruction. Kept by address. An address may be
// reused for other code, so kept objects are read again. If the interpreter counts its freed code objects (3.14 and
// later), this happens whenever the count changes. Else it happens every second. A new object is also read at each use
// until it has been the same for a while, because code may be short-lived.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/remote.hpp"
#include "stack/python_layout.hpp"
#include "stack/python_stacks.hpp"
#include "stack/stack_evidence.hpp"

namespace fade {

class PythonCode {
 public:
  // `interpreter`: the mapped range of the interpreter itself.
  PythonCode(const PythonLayout& layout, RemoteRange interpreter) : layout_(layout), interpreter_(interpreter) {}

  // Begins a stack. `epoch` is code_object_generation if the version has one, else milliseconds of a clock. It counts
  // for all uses until the next call. Nothing is read twice during a stack, because the frames of a stopped thread hold
  // references to their code.
  void begin(std::uint64_t epoch);
  // Valid until the next call. Unreadable code has the function "?" and id 0. The memory read is added to `evidence`,
  // which is the same one for the whole stack.
  const PythonStacks::Place& place(std::uint64_t code, std::int32_t instruction, const Memory& memory,
                                   StackEvidence* evidence = nullptr);
  // True for internal code that runs behind a class's __init__ (3.12 and later); no traceback shows it.
  bool is_internal(std::uint64_t code, const Memory& memory, StackEvidence* evidence = nullptr);
  // Code that was read again for this stack, and must be read again for the next one.
  const std::vector<RemoteRange>& unsure() const { return unsure_; }

 private:
  // The values that are compared to see if an address still holds the same code.
  struct Identity {
    std::uint64_t file = 0, name = 0, qualified_name = 0, line_table = 0;
    std::int32_t first_line = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    std::uint64_t epoch = 0, since = 0;  // times of the last and the first look
    std::uint32_t looks = 0;
    std::uint64_t stack = 0, evidence = 0;  // stacks of the last look, and of the last addition to the evidence
    std::string function, file;
    bool internal = false;
    std::unordered_map<std::int32_t, PythonStacks::Place> places;  // by instruction
  };

  std::optional<Identity> identity(std::uint64_t code, const Memory& memory) const;
  Known read(const Identity& identity, const Memory& memory) const;
  bool has_generation() const { return layout_.generation != PythonLayout::kNone; }
  bool is_settled(const Known& known) const;
  bool is_sure(const Known& known) const;
  Known* known(std::uint64_t code, const Memory& memory);
  Known* known(std::uint64_t code, const Memory& memory, StackEvidence* evidence);
  Known* looked_at(std::uint64_t code, Known& known);
  void rest_on(std::uint64_t code, const Known& known, StackEvidence& evidence) const;
  void make_room();

  PythonLayout layout_;
  RemoteRange interpreter_;
  std::uint64_t epoch_ = 0, stack_ = 0;  // stack_: counts begin()
  std::vector<RemoteRange> unsure_;
  std::unordered_map<std::uint64_t, Known> codes_;
  std::size_t places_ = 0;
  std::uint32_t last_id_ = 0;
  PythonStacks::Place unreadable_{.id = 0, .function = "?", .file = {}, .line = 0};
};

}  // namespace fade
