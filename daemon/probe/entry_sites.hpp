// Sites at the entries of functions, many at once: a library has hundreds of functions, and each write into the program
// is a system call. Tracing thread only.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

// The entry of a function. In the `untouched` bytes from there nothing else begins, and no branch leads into them. A
// jump may be put behind the first instruction if the next instructions allow it.
struct FunctionEntry {
  RemoteAddr function;
  std::uint64_t untouched = 0;
  std::vector<std::uint8_t> code;  // the bytes there
  std::size_t stack_words = 0;     // of the function's arguments
  bool has_run = false;            // threads may be in these bytes: it gets an int3 first (EntryConversion)

  static FunctionEntry read(const Memory& memory, RemoteAddr function, std::uint64_t untouched);
};

// The place of a jump at the entry; nullopt: it gets an int3. Pure.
std::optional<RemoteAddr> place_of_jump(const FunctionEntry& entry, const SiteTable& sites);
// Addresses that no branch may lead to if the entry is to have a jump: the overwritten instructions except the first.
// Empty if there are none, or if the entry gets no jump anyway. Pure.
std::vector<RemoteAddr> under_jump(const FunctionEntry& entry, const SiteTable& sites);

// A view of an address space.
class EntrySites {
 public:
  EntrySites(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // Makes sites for all entries, in few writes, in the same order. AddressSpace::arm() of the same function returns the
  // same site.
  std::vector<Result<Site*>> arm(std::span<const FunctionEntry> entries, Tid stopped);

 private:
  struct Plan;
  void arm_some(std::span<const FunctionEntry> entries, std::span<Result<Site*>> out, Tid stopped);
  Result<Plan> plan(const FunctionEntry& entry, Tid stopped);
  bool write_slots(std::span<const Plan> plans, Tid stopped) const;
  bool write_entries(std::span<const Plan> plans, Tid stopped);

  OurMemory& ours_;
  SiteTable& sites_;
};

}  // namespace fade
