// The memory of a live process. If /proc/PID/mem can be opened, it is used: it works after the leader has exited, and
// writes read-only text. Else process_vm_readv(2) and PTRACE_POKETEXT of a stopped thread are used. The file stays
// bound to the program that ran when it was opened: after an exec nothing is written.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/remote.hpp"
#include "proc/proc_files.hpp"

namespace fade {

constexpr std::uint64_t kPageSize = 4096;
constexpr RemoteAddr page_of(RemoteAddr address) { return {address.value & ~(kPageSize - 1)}; }

// The bytes of a value that ProcessMemory::write() is to write.
template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(TaskId task, const ProcFiles& proc = ProcFiles());

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;
  // One piece of memory to read; `got` is the number of bytes read from its start.
  struct Piece {
    RemoteAddr from;
    std::span<std::byte> into;
    std::size_t got = 0;
  };
  static constexpr std::size_t kMostPieces = 24;
  // Uses one system call if all can be read.
  void read_all(std::span<Piece> pieces) const;
  // True if the program with this memory has executed another program, or has ended. False if unknown.
  bool is_gone() const;
  // True if write() works while the process runs; a word of text then changes at once for all threads.
  bool writes_without_stop() const { return static_cast<bool>(mem_); }
  // Returns true only if every byte was written. Writes read-only and executable pages too. `stopped` is any stopped
  // thread of the process.
  bool write(RemoteAddr to, std::span<const std::byte> bytes, Tid stopped) const;
  // Within one page: writes all or, if fade is killed meanwhile, nothing. False: not written, or impossible.
  bool write_at_once(RemoteAddr to, std::span<const std::byte> bytes) const;

 private:
  ssize_t write_by_file(RemoteAddr to, std::span<const std::byte> bytes) const;  // as pwrite(2)
  bool poke(RemoteAddr to, std::span<const std::byte> bytes, Tid stopped) const;

  TaskId task_;
  Fd mem_;
};

}  // namespace fade
