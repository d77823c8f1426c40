// The text, slot and pad of a site: their present and expected content, and how to write it. Holds no state and reads
// the process each time. Tracing thread only.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "probe/relocate.hpp"
#include "probe/safety_net.hpp"
#include "probe/site.hpp"
#include "ptrace/process_memory.hpp"

namespace fade {

class SiteText {
 public:
  using JumpBytes = std::array<std::uint8_t, kJumpSize>;

  // Both arguments must outlive this object.
  SiteText(const ProcessMemory& memory, const SafetyNet& net) : memory_(memory), net_(net) {}

  // The code of the site's slot if `bytes` are at the site.
  Result<RelocatedInstruction> slot_code(std::span<const std::uint8_t> bytes, const Site& site) const;
  std::vector<std::uint8_t> pad_code(const Site& site) const;
  // True if these bytes, moved from the site, give exactly the code of its slot, or of its long way (long_way.hpp).
  bool is_of_slot(const Site& site, std::span<const std::uint8_t> bytes) const;
  // The site's original bytes, read from the slot. Returns false if the slots hold code that fade does not write.
  bool recover(Site& site) const;

  // Writes the breakpoint, or the original bytes, into the text. `stopped`: a stopped thread, or kNobody.
  bool put_in(const Site& site, Tid stopped) const;
  // The same if no thread has been there yet: a jump needs no int3 first, if it is written completely or not at all.
  bool put_in_first(const Site& site, Tid stopped) const;
  bool put_back(const Site& site, Tid stopped) const;
  // True if an int3 or the jump is there; the int3 of a half-written jump counts.
  bool is_set(const Site& site) const;
  // True if neither breakpoint nor original bytes are there: the program changed them. If a library was closed, and
  // perhaps opened again at its place, its jump is gone too.
  bool is_written_over(const Site& site) const;

 private:
  std::optional<JumpBytes> covered_text(const Site& site) const;
  bool is_of_long_way(const Site& site, std::span<const std::uint8_t> bytes) const;
  bool write_jump_bytes(const Site& site, JumpBytes bytes, Tid stopped) const;

  const ProcessMemory& memory_;
  const SafetyNet& net_;
};

}  // namespace fade
