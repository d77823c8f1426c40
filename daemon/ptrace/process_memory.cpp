#include "ptrace/process_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

#include "base/result.hpp"
#include "proc/living_thread.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {}  // namespace

ProcessMemory::ProcessMemory(TaskId task, const ProcFiles& proc)
    : task_(task), mem_(::open(proc.path(living_thread(task, proc), "mem").c_str(), O_RDWR | O_CLOEXEC)) {}

// mem_rw() in fs/proc/base.c: without a memory map a read returns 0 bytes and no error. The last page of the program's
// half is never mapped.
bool ProcessMemory::is_gone() const {
  constexpr off_t kNeverMapped = 0x7fff'ffff'f000;
  std::byte byte;
  return mem_ && ::pread(mem_.get(), &byte, 1, kNeverMapped) == 0;
}

std::size_t ProcessMemory::read(RemoteAddr from, std::span<std::byte> into) const {
  if (from.value >> 63) return 0;  // kernel half; pread would take it for a negative offset
  const iovec local{into.data(), into.size()};
  const iovec remote{reinterpret_cast<void*>(from.value), into.size()};
  // Through the file each page takes the lock of the memory map, for which threads of the program may queue.
  if (into.size() > kPageSize &&
      ::process_vm_readv(task_.value(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(into.size()))
    return into.size();
  if (mem_) {
    const ssize_t got = ::pread(mem_.get(), into.data(), into.size(), static_cast<off_t>(from.value));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EIO || errno == EFAULT) return 0;
  }
  const ssize_t got = ::process_vm_readv(task_.value(), &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

void ProcessMemory::read_all(std::span<Piece> pieces) const {
  std::array<iovec, kMostPieces> local, remote;
  FADE_CHECK(pieces.size() <= local.size());
  if (pieces.empty()) return;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {pieces[i].into.data(), pieces[i].into.size()};
    remote[i] = {reinterpret_cast<void*>(pieces[i].from.value), pieces[i].into.size()};
  }
  const ssize_t got = ::process_vm_readv(task_.value(), local.data(), pieces.size(), remote.data(), pieces.size(), 0);
  std::size_t left = got < 0 ? 0 : static_cast<std::size_t>(got);
  for (Piece& piece : pieces) {
    piece.got = std::min(left, piece.into.size());
    left -= piece.got;
    // After an incomplete piece the kernel has read nothing.
    if (piece.got == 0) piece.got = read(piece.from, piece.into);
  }
}

// An exec or the end of the process removes the memory. The file then takes 0 bytes, and `stopped` may be a thread of
// the new program.
bool ProcessMemory::write(RemoteAddr to, std::span<const std::byte> bytes, Tid stopped) const {
  if (to.value >> 63) return false;
  const ssize_t written = write_by_file(to, bytes);
  if (written == std::ssize(bytes)) return true;
  return written != 0 && poke(to, bytes, stopped);
}

// The kernel copies page by page and looks for a kill in between.
bool ProcessMemory::write_at_once(RemoteAddr to, std::span<const std::byte> bytes) const {
  return to.value % kPageSize + bytes.size() <= kPageSize && to.value >> 63 == 0 &&
         write_by_file(to, bytes) == std::ssize(bytes);
}

ssize_t ProcessMemory::write_by_file(RemoteAddr to, std::span<const std::byte> bytes) const {
  return mem_ ? ::pwrite(mem_.get(), bytes.data(), bytes.size(), static_cast<off_t>(to.value)) : -1;
}

// PTRACE_POKETEXT writes whole aligned words: keep the bytes around the new ones.
bool ProcessMemory::poke(RemoteAddr to, std::span<const std::byte> bytes, Tid stopped) const {
  while (!bytes.empty()) {
    const RemoteAddr word_at{to.value & ~std::uint64_t{7}};
    const std::size_t skip = to - word_at;
    const std::size_t n = std::min(bytes.size(), 8 - skip);
    auto word = value<std::uint64_t>(word_at);
    if (!word) return false;
    std::memcpy(reinterpret_cast<std::byte*>(&*word) + skip, bytes.data(), n);
    if (!Tracee(stopped).poke(word_at, *word)) return false;
    to = to + n;
    bytes = bytes.subspan(n);
  }
  return true;
}

}  // namespace fade
