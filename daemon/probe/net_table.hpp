// The table site -> slot in the net. The net's handler reads it: without fade, a thread at a site continues in its
// slot. A value, as the net. Tracing thread only.
#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "probe/net_layout.hpp"
#include "ptrace/process_memory.hpp"

namespace fade {

// The Error about an earlier fade's net that cannot be used.
tl::unexpected<Error> damaged_net(std::string how);

class NetTable {
 public:
  // Slot 0: a forgotten site.
  struct Entry {
    RemoteAddr site, slot;
    std::uint8_t original = 0;  // the byte under the int3
    std::uint8_t length = 0;    // of the instruction in the slot
    Guard guard = Guard::None;
    Way way = Way::Trap;
  };

  // The empty table of a new net.
  explicit NetTable(RemoteAddr net) : net_(net), now_(net + NetLayout::kTablesAt) {}
  // For the net of an earlier fade, in this order. They return false if the net is damaged.
  bool find(const Memory& memory);   // which of its tables is in force
  bool count(const Memory& memory);  // the entries of that table

  RemoteAddr now() const { return now_; }  // the table in force

  // From now on, without fade, a thread at the site continues in its slot. Slot 0 forgets the site, but its entry stays
  // taken. Not when is_full().
  bool set(const ProcessMemory& memory, Tid stopped, const Entry& entry);
  // The same for many entries, in one write if they are many. If fade is killed in the middle, some entries are
  // missing.
  bool set_all(const ProcessMemory& memory, Tid stopped, std::span<const Entry> entries);
  static constexpr std::size_t kMostAtOnce = 512;  // fit if the table is not full
  bool is_full() const { return taken_ >= kMost; }
  std::uint64_t places_left() const { return is_full() ? 0 : kMost - taken_; }  // entries that can still be set
  std::uint64_t places_taken() const { return taken_; }                         // including forgotten sites
  // Writes the table anew, without the entries of forgotten sites. Returns false if the live entries are too many. No
  // live site is missing at any moment. Entries that were left alone stay.
  bool rewrite(const ProcessMemory& memory, Tid stopped, std::vector<Entry> live);
  // The table in the process, without forgotten sites. A damaged table gives an Error.
  Result<std::vector<Entry>> entries(const Memory& memory) const;

  // An entry of an earlier fade whose site nobody may touch: only the handler can serve it.
  void leave_alone(const Entry& entry) { left_alone_.push_back(entry); }
  std::size_t left_alone() const { return left_alone_.size(); }

 private:
  using Words = std::array<std::uint64_t, 2>;
  Result<std::vector<Words>> read(const Memory& memory) const;
  static Words pack(const Entry& entry);
  static Entry unpack(const Words& words);

  static constexpr std::uint64_t kMost = NetLayout::kTableEntries * 3 / 4;

  RemoteAddr net_, now_;
  std::uint64_t taken_ = 0;  // used entries, including forgotten sites
  std::vector<Entry> left_alone_;
};

}  // namespace fade
