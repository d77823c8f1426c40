// Reads a /proc folder (proc(5)); the folder is a parameter, so that tests bring their own. Nothing in it is trusted:
// files may be missing, huge or nonsense, and processes may end at any time. An unreadable value is empty.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pid.hpp"

namespace fade {

// At most `most` bytes of a regular file; never waits for the other end of a FIFO. nullopt: it cannot be read (errno).
std::optional<std::string> read_bounded(const std::string& path, std::size_t most);

// Control characters and non-ASCII bytes become \xHH, because processes choose the names.
std::string printable(std::string_view text);

// The number at the start of the text, followed by white space only; nullopt: another text.
std::optional<Pid> parse_pid(std::string_view text);

// /proc/PID/status: lines of "Name:\tvalue".
class StatusFile {
 public:
  explicit StatusFile(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  std::string_view value(std::string_view name) const;
  char state() const;                                                     // R, S, D, T, t, Z, X, I; 0: unknown
  int number(std::string_view name) const;                                // 0: unknown
  Pid pid(std::string_view name) const { return Pid::of(number(name)); }  // as in Tgid and PPid
  Tid tid(std::string_view name) const { return Tid::of(number(name)); }  // as in TracerPid
  pid_t last_number(std::string_view name) const;                         // of several, as in NStgid; 0: unknown
  std::uint64_t mask(std::string_view name) const;                        // hexadecimal, as in SigBlk and CapEff
  // Real, effective, saved and of the file system, of "Uid" or "Gid".
  std::optional<std::array<std::uint32_t, 4>> ids(std::string_view name) const;

 private:
  std::string text_;
};

// /proc/PID/stat: words in one line, numbered from 1 as in proc_pid_stat(5). The name, number 2, may contain any
// character.
class StatFile {
 public:
  enum Field : std::size_t {
    State = 3,
    Parent = 4,
    Flags = 9,
    UserTime = 14,
    SystemTime = 15,
    StartTime = 22,
    StartOfStack = 28,
    LastCpu = 39
  };

  explicit StatFile(std::string text);
  std::string_view word(Field field) const;  // empty: unknown
  std::optional<std::uint64_t> number(Field field) const;

 private:
  std::string text_;
  std::size_t behind_name_;  // npos: not a stat file
};

class ProcFiles {
 public:
  explicit ProcFiles(std::string folder = "/proc") : folder_(std::move(folder)) {}
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string path(TaskId task, const std::string& name) const {
    return path(std::to_string(task.value()) + "/" + name);
  }

  std::string read(const std::string& name) const;  // at most 1 MiB
  std::string read(TaskId task, const std::string& name) const {
    return read(std::to_string(task.value()) + "/" + name);
  }
  // Texts that end with a zero, as in cmdline and environ.
  std::vector<std::string> texts(TaskId task, const std::string& name) const;
  // The target of a symbolic link.
  std::string link(const std::string& name) const;
  std::string link(TaskId task, const std::string& name) const {
    return link(std::to_string(task.value()) + "/" + name);
  }
  StatusFile status(TaskId task) const { return StatusFile(read(task, "status")); }
  StatusFile status(Pid pid, Tid tid) const;
  StatFile stat(TaskId task) const { return StatFile(read(task, "stat")); }
  std::string comm(TaskId task) const;          // raw, without the line break
  std::string program_name(TaskId task) const;  // the same, printable
  bool is_kernel_thread(TaskId task) const;
  std::vector<Pid> processes() const;           // sorted
  std::vector<Tid> threads(TaskId task) const;  // of the process

 private:
  std::string folder_;
};

}  // namespace fade
