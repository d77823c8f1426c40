// What stands, or should stand, in the text, the slot and the pad of a site, and how it is written there. Holds nothing:
// looks at the process each time. Tracing thread only.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "probe/relocate.hpp"
#include "probe/site.hpp"
#include "ptrace/process_memory.hpp"

namespace fade {

class SiteText {
 public:
  // Both must outlive it.
  SiteText(const ProcessMemory& memory, const SafetyNet& net) : memory_(memory), net_(net) {}

  // The code of the site's slot if `bytes` stand at the site.
  Result<RelocatedInstruction> slot_code(std::span<const std::uint8_t> bytes, const Site& site) const;
  std::vector<std::uint8_t> pad_code(const Site& site) const;
  // Whether these bytes at the site would be moved into just what stands in its slot.
  bool is_of_slot(const Site& site, std::span<const std::uint8_t> bytes) const;
  // The site's bytes as they were, read from where they were moved to. False: its slots hold other code than fade writes.
  bool recover(Site& site) const;

  // The breakpoint, or the original bytes, come into the text. `stopped`: a stopped thread, or kNobody.
  bool put_in(const Site& site, pid_t stopped) const;
  // The same where no thread has been yet: a jump needs no int3 before it is whole if it comes whole or not at all.
  bool put_in_first(const Site& site, pid_t stopped) const;
  bool put_back(const Site& site, pid_t stopped) const;
  // An int3 or the jump stands there; of a jump that was begun, the int3 counts.
  bool is_set(const Site& site) const;
  // Neither breakpoint nor original bytes: the program's own doing. A library that was closed, and perhaps opened again
  // at its place, took our jump with it.
  bool is_written_over(const Site& site) const;

 private:
  bool write_jump_bytes(const Site& site, std::array<std::uint8_t, kJumpSize> bytes, pid_t stopped) const;

  const ProcessMemory& memory_;
  const SafetyNet& net_;
};

}  // namespace fade
