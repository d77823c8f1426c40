// Reads what the record of a call needs beyond the integer registers: stack words, SSE registers, strings and memory
// that pointers lead to. Appends pieces to the call's payload. Bounded, whatever the target says.
#pragma once
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "probe/open_calls.hpp"
#include "probes/arguments.hpp"
#include "ptrace/registers.hpp"
#include "session/function_table.hpp"

namespace fade {

// Bytes behind one pointer that are read at most.
inline constexpr std::size_t kMostPointed = 4096;

inline std::uint64_t argument(const probes::Probe& probe, const probes::Parameter& parameter, const OpenCall& call) {
  return probes::argument(probe, parameter, call.record, call.payload);
}

class ArgumentReader {
 public:
  // Reads the return address and, behind it, the stack words, in one read; the SSE registers of the stopped thread
  // `tid`. `on_stack`: as much of the stack as is known already, from the stack pointer on. Null: the stack cannot be
  // read.
  static RemoteAddr read_entry(const Entry& entry, const Registers& registers, std::span<const std::uint64_t> on_stack,
                               Tid tid, const Memory& memory, OpenCall& call);
  // At the entry, after read_entry(): strings, and memory that the function reads.
  void read_inputs(const Entry& entry, const Memory& memory, OpenCall& call);
  // At the return, after the result: memory that the function has written, and texts that it gives if it succeeded. A
  // text that cannot be read leaves no piece: its address is shown.
  void read_outputs(const Entry& entry, const Memory& memory, OpenCall& call);

 private:
  void read_pointed(const Entry& entry, std::uint8_t index, PieceKind kind, const Memory& memory, OpenCall& call);

  std::vector<std::byte> buffer_;
};

}  // namespace fade
