// The place of a thread that sleeps or stands still. The kernel shows it without a stop (proc_pid_syscall(5)).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "proc/proc_files.hpp"

namespace fade {

struct RestingPlace {
  RemoteAddr ip, sp;
  // How often the thread has gone to sleep. If two looks give the same place, it has not run between them.
  std::uint64_t sleeps = 0;
  friend bool operator==(const RestingPlace&, const RestingPlace&) = default;
};

// nullopt: the thread runs, is gone, or the kernel does not tell.
std::optional<RestingPlace> read_resting_place(Tid tid, const ProcFiles& proc = ProcFiles());
// The last two words of the text are the stack pointer and the instruction pointer. Pure.
std::optional<RestingPlace> parse_resting_place(std::string_view text);

}  // namespace fade
