// Reads a /proc folder (proc(5)); which one is a parameter, so that tests bring their own. Nothing in it is trusted:
// files may be missing, huge or nonsense, processes may go at any time. What cannot be read is empty.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fade {

// At most `most` bytes of a regular file; never waits for the other end of a FIFO. nullopt: it cannot be read (errno).
std::optional<std::string> read_bounded(const std::string& path, std::size_t most);

// Control characters and whatever is not ASCII become \xHH: names are chosen by the processes.
std::string printable(std::string_view text);

// The number at the start of the text, and nothing but white space behind it; nullopt: something else.
std::optional<pid_t> parse_pid(std::string_view text);

// /proc/PID/status: lines of "Name:\tvalue".
class StatusFile {
 public:
  explicit StatusFile(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  std::string_view value(std::string_view name) const;
  char state() const;                             // R, S, D, T, t, Z, X; 0: unknown
  pid_t pid(std::string_view name) const;         // 0: unknown
  std::uint64_t mask(std::string_view name) const;  // hexadecimal, as in SigBlk and CapEff
  // Real, effective and saved, of "Uid" or "Gid".
  std::optional<std::array<std::uint32_t, 3>> ids(std::string_view name) const;

 private:
  std::string text_;
};

class ProcFiles {
 public:
  explicit ProcFiles(std::string folder) : folder_(std::move(folder)) {}
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string path(pid_t pid, const std::string& name) const { return path(std::to_string(pid) + "/" + name); }

  std::string read(const std::string& name) const;  // at most 1 MiB
  StatusFile status(pid_t pid) const { return StatusFile(read(std::to_string(pid) + "/status")); }
  StatusFile status(pid_t pid, pid_t tid) const;
  std::string comm(pid_t pid) const;  // raw, without the line break
  std::string program_name(pid_t pid) const;  // the same, printable
  bool is_kernel_thread(pid_t pid) const;
  std::vector<pid_t> processes() const;  // sorted
  std::vector<pid_t> threads(pid_t pid) const;

 private:
  std::string folder_;
};

}  // namespace fade
