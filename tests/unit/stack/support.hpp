// Stacks of stopped threads as libunwind-ptrace sees them: what ours are compared with.
#pragma once
#include <libunwind-ptrace.h>

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ptrace/tracees.hpp"
#include "stack/native_walk.hpp"

namespace fade::test {

class Oracle {
 public:
  explicit Oracle(Tid tid) : space_(::unw_create_addr_space(&_UPT_accessors, 0)), thread_(::_UPT_create(tid.value())) {}
  ~Oracle() {
    ::_UPT_destroy(thread_);
    ::unw_destroy_addr_space(space_);
  }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // As NativeFrame::pc says. `has_guessed`: of some frame libunwind knew no rule (of the vDSO's it never does: it looks
  // for a file), so that it went by what often stands where rbp and rsp are: that may show a frame twice, or none at
  // all.
  std::vector<RemoteAddr> frames(std::size_t limit, bool* has_guessed = nullptr) const {
    std::vector<RemoteAddr> out;
    unw_cursor_t cursor;
    if (::unw_init_remote(&cursor, space_, thread_) != 0) return out;
    do {
      unw_word_t ip = 0;
      ::unw_get_reg(&cursor, UNW_REG_IP, &ip);
      if (ip == 0) break;
      if (has_guessed) *has_guessed |= !has_rule(cursor);
      const bool is_call = !out.empty() && ::unw_is_signal_frame(&cursor) <= 0;  // else: interrupted by a signal
      out.push_back({is_call ? ip - 1 : ip});
    } while (out.size() < limit && ::unw_step(&cursor) > 0);
    return out;
  }

 private:
  // Of a copy: to ask changes what the next step does. Where there is none, libunwind says that the function has one
  // byte.
  static bool has_rule(unw_cursor_t cursor) {
    unw_proc_info_t function;
    return ::unw_get_proc_info(&cursor, &function) == 0 && function.end_ip > function.start_ip + 1;
  }

  unw_addr_space_t space_;
  void* thread_;
};

inline std::string shown(const std::vector<RemoteAddr>& frames) {
  std::string out;
  for (const RemoteAddr pc : frames) out += fmt::format(" {:#x}", pc.value);
  return out;
}

// A thread of another process that runs and is stopped wherever it happens to be.
class Stopped {
 public:
  Stopped(const Tracer& tracer, Tid tid) : tracer_(tracer), tracee_(tid), memory_(tid) {}

  // False: it has ended.
  bool stop() {
    tracee_.interrupt();
    for (;;) {
      const Stop stop = tracer_.next_of(tracee_.tid());
      if (stop.kind == Stop::Kind::Trap) return true;
      if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed || stop.kind == Stop::Kind::Gone)
        return false;
      tracee_.resume(stop.kind == Stop::Kind::Signal ? stop.signal : 0);
    }
  }
  void go() const { tracee_.resume(); }
  // Signals do not stop it meanwhile.
  void go_on_for(std::chrono::microseconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    go();
    while (std::chrono::steady_clock::now() < end) {
      const Stop stop = tracer_.next_if_stopped(tracee_.tid());
      if (stop.kind == Stop::Kind::Signal) tracee_.resume(stop.signal);
      else if (stop.kind != Stop::Kind::None) return;
    }
  }
  Tid tid() const { return tracee_.tid(); }
  const ProcessMemory& memory() const { return memory_; }
  Registers registers() const { return tracee_.registers().value_or(Registers{}); }

  std::vector<RemoteAddr> frames(CodeMap& code, NativeWalk::End& end, std::uint32_t* evaluated = nullptr,
                                 std::size_t limit = 4096) const {
    const Registers now = registers();
    const StackSnapshot snapshot(memory_, now.sp());
    NativeWalk walk(code, tid(), FrameRegisters(now), snapshot, false);
    std::vector<RemoteAddr> out;
    for (auto frame = walk.next(); frame && out.size() < limit; frame = walk.next()) out.push_back(frame->pc);
    end = walk.end();
    if (evaluated) *evaluated += walk.evaluated();
    return out;
  }

 private:
  const Tracer& tracer_;
  Tracee tracee_;
  ProcessMemory memory_;
};

}  // namespace fade::test
