// The memory of a live process, through /proc/PID/mem where it can be opened (it goes on working when the leader has
// exited, and writes read-only text), else through process_vm_readv(2) and PTRACE_POKETEXT of a stopped thread. The file stays that of the
// program that ran when it was opened: after an exec nothing is written.
#pragma once
#include <sys/types.h>

#include "base/fd.hpp"
#include "base/remote.hpp"

namespace fade {

class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t pid);

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;
  // One piece of memory to be read; `got` of its bytes could be, from the start.
  struct Piece {
    RemoteAddr from;
    std::span<std::byte> into;
    std::size_t got = 0;
  };
  static constexpr std::size_t kMostPieces = 24;
  // In one system call where all can be read.
  void read_all(std::span<Piece> pieces) const;
  // Whether the program whose memory this is has executed another one, or has ended. False where that cannot be told.
  bool is_gone() const;
  // Whether write() works while the process runs; a word of text is changed at once for all of its threads.
  bool writes_without_stop() const { return static_cast<bool>(mem_); }
  // True only if every byte was written; read-only and executable pages too. `stopped` is any stopped thread of the process.
  bool write(RemoteAddr to, std::span<const std::byte> bytes, pid_t stopped) const;
  // Within one page: all of it or, should we be killed meanwhile, nothing. False: not written, or there is no way to do that.
  bool write_at_once(RemoteAddr to, std::span<const std::byte> bytes) const;

 private:
  ssize_t write_by_file(RemoteAddr to, std::span<const std::byte> bytes) const;  // as pwrite(2)
  bool poke(RemoteAddr to, std::span<const std::byte> bytes, pid_t stopped) const;

  pid_t pid_;
  Fd mem_;
};

}  // namespace fade
