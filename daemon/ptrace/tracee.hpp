// One thread under ptrace, named by its tid: the ptrace(2) requests for it, with their errors as values. Holds no
// state. Every request except interrupt needs a stopped thread, and all must come from the tracing thread. ESRCH is
// normal: a thread can be killed at any moment, and the Tracer then reports its end.
#pragma once
#include <signal.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "ptrace/registers.hpp"

namespace fade {

class Tracee {
 public:
  explicit Tracee(Tid tid) : tid_(tid) {}
  Tid tid() const { return tid_; }

  std::optional<Registers> registers() const;
  bool set_registers(const Registers& registers) const;
  bool set_ip(RemoteAddr ip) const;  // 2.6 times cheaper than set_registers
  bool set_result(std::uint64_t rax) const;
  // `from`: the result of registers().
  bool change_registers(const Registers& from, const Registers& to) const;
  // Low 8 bytes of xmm0..xmm7.
  std::optional<std::array<std::uint64_t, 8>> sse_words() const;
  // Replaces the low `size` bytes (8 at most) of xmm `number`, in one request. Its other bytes stay.
  bool set_sse_word(std::size_t number, std::uint64_t value, std::size_t size) const;
  // The whole extended state in XSAVE standard format; empty if unreadable.
  std::vector<std::byte> extended_state() const;

  std::optional<siginfo_t> siginfo() const;
  std::optional<std::uint64_t> signal_mask() const;
  bool set_signal_mask(std::uint64_t mask) const;
  std::optional<unsigned long> event_message() const;

  bool resume(int signal = 0) const;
  bool resume_to_syscall(int signal = 0) const;  // next stop: entry or exit of a system call
  bool step() const;                             // one instruction; next stop: a SIGTRAP without an owner
  bool listen() const;                           // stay in group-stop but report its end
  bool interrupt() const;                        // ask for a Trap stop
  bool detach(int signal = 0) const;
  bool poke(RemoteAddr at, std::uint64_t word) const;  // writes text too

 private:
  Tid tid_;
};

}  // namespace fade
