// The search for copies of device properties in a program's memory, block by block: the program runs meanwhile. Small
// ranges come first, because a library's data and the heap are more likely to hold copies than large buffers. Knows no
// process: the caller gives the ranges.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/remote.hpp"
#include "probes/overrides/copies.hpp"

namespace fade {

struct FoundCopy {
  RemoteAddr at;
  const probes::CopyForm* form = nullptr;
  std::vector<std::byte> bytes;
  probes::CopyTold told;
};

// A structure that a function has answered with. Copies of it are equal, byte by byte.
struct KnownAnswer {
  const probes::CopyForm* form = nullptr;
  int device = -1;
  std::vector<std::byte> bytes;
};

class CopySearch {
 public:
  static constexpr std::size_t kBlock = 1 << 20;
  // The parts of a range that hold data. Pages that the program never touched are left out: reading them would give
  // them page tables.
  using Present = std::function<std::vector<RemoteRange>(RemoteRange)>;
  struct Limits {
    std::uint64_t bytes = std::uint64_t{64} << 30;
    std::size_t copies = 256;
    std::size_t looks = 1'000'000;  // at places with an anchor, which the program may have made many of
  };

  CopySearch(const Memory& memory, std::vector<RemoteRange> ranges, Present present, Limits limits);
  CopySearch(const Memory& memory, std::vector<RemoteRange> ranges, Present present)
      : CopySearch(memory, std::move(ranges), std::move(present), Limits()) {}
  // Copies that differ from what a device must look like are found, too, if they are equal to one of these.
  void also_find(std::vector<KnownAnswer> answers) { known_ = std::move(answers); }

  // Searches the next block. False: the search has ended.
  bool step();
  const std::vector<FoundCopy>& found() const { return found_; }
  std::uint64_t bytes() const { return bytes_; }       // searched
  std::uint64_t bytes_left() const { return left_; }   // of the ranges, not looked at
  const std::string& limit() const { return limit_; }  // that ended the search; empty: all was searched

 private:
  void look_at(RemoteRange block);
  void look_at_place(const probes::CopyForm& form, std::size_t anchor, RemoteAddr begin,
                     std::span<const std::byte> block);
  bool is_known(const probes::CopyForm& form, std::span<const std::byte> bytes) const;

  const Memory& memory_;
  const Present present_;
  const Limits limits_;
  std::vector<RemoteRange> ranges_;  // still to be searched; the next one is the last
  std::vector<KnownAnswer> known_;
  std::vector<std::byte> buffer_, scratch_;
  std::vector<FoundCopy> found_;
  std::unordered_set<std::uint64_t> places_;  // of found copies
  std::uint64_t bytes_ = 0, left_ = 0;
  std::size_t looks_ = 0;
  std::string limit_;
};

}  // namespace fade
