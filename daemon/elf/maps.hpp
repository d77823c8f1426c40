// The memory map of a process from /proc/PID/maps: the mapped files and their addresses, and the free ranges. A
// snapshot: it does not follow later changes.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "base/result.hpp"
#include "proc/proc_files.hpp"

namespace fade::elf {

// Bytes that a jump with a 32-bit distance can cross, less a margin for areas and instructions at both ends.
constexpr std::uint64_t kJumpReach = (std::uint64_t{1} << 31) - (1 << 20);

struct Mapping {
  RemoteRange range;
  bool readable = false, writable = false, executable = false, shared = false;
  std::uint64_t offset = 0;  // in the file
  dev_t device = 0;
  ino_t inode = 0;   // 0: no file
  std::string path;  // without " (deleted)"; "[stack]" and the like; empty: anonymous
  bool deleted = false;

  bool has_file() const { return inode != 0; }
};

class Maps {
 public:
  // Lines in an unknown form are left out. The kernel gives the lines sorted; other text is sorted here.
  static Maps parse(std::string_view text);

  const std::vector<Mapping>& all() const { return mappings_; }
  const Mapping* find(RemoteAddr address) const;  // nullptr: nothing is mapped there

 private:
  std::vector<Mapping> mappings_;  // by address
};

Result<Maps> read_maps(TaskId task, const ProcFiles& proc = ProcFiles());

// The lowest address that may be mapped (vm.mmap_min_addr).
std::uint64_t mmap_min_addr();

// A free range of `size` bytes (whole pages) within reach: a 32-bit displacement leads from each address of `reach` to
// each address of the range and back. As near as possible, below `reach` if there is room. Avoids the way of a growing
// stack and heap if possible. nullopt: no room. Map it with MAP_FIXED_NOREPLACE, because the process runs on.
std::optional<RemoteAddr> free_gap_near(const Maps& maps, RemoteRange reach, std::uint64_t size,
                                        std::uint64_t lowest = mmap_min_addr());

}  // namespace fade::elf
