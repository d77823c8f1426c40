// The memory map of a process as /proc/PID/maps tells it: which file is mapped where, and where there is room.
// A snapshot: it does not follow later changes.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"

namespace fade::elf {

struct Mapping {
  RemoteRange range;
  bool readable = false, writable = false, executable = false, shared = false;
  std::uint64_t offset = 0;  // in the file
  dev_t device = 0;
  ino_t inode = 0;           // 0: no file
  std::string path;          // without " (deleted)"; "[stack]" and the like; empty: anonymous
  bool deleted = false;

  bool has_file() const { return inode != 0; }
};

class Maps {
 public:
  // Lines that are not understood are left out. The kernel gives them sorted; other text is sorted here.
  static Maps parse(std::string_view text);

  const std::vector<Mapping>& all() const { return mappings_; }
  const Mapping* find(RemoteAddr address) const;  // nullptr: nothing is mapped there
  // Of the file that is mapped at `address`, the mapping of its offset 0 that belongs to it: where its ELF header is.
  const Mapping* file_start(RemoteAddr address) const;

 private:
  std::vector<Mapping> mappings_;  // by address
};

Result<Maps> read_maps(pid_t pid);

// The lowest address that may be mapped (vm.mmap_min_addr).
std::uint64_t mmap_min_addr();

// Where `size` bytes (whole pages) are free such that a 32-bit displacement leads from everything in `reach` to
// everything in them and back. As near as possible, below `reach` if there is room. Keeps out of the way of a
// growing stack and heap where it can. nullopt: no room. Take it with MAP_FIXED_NOREPLACE: the process runs on.
std::optional<RemoteAddr> free_gap_near(const Maps& maps, RemoteRange reach, std::uint64_t size,
                                        std::uint64_t lowest = mmap_min_addr());

}  // namespace fade::elf
