// A function whose first instruction the program has changed keeps its breakpoint.
#include "probe/tap_area.hpp"

#include "probe/entry_pads.hpp"

namespace fade::entry_pads {
namespace {

constexpr int kPushes = 3, kLoadsTable = 8;  // of kEntries

class ChangedLead : public ArmedEntry {
 public:
  ChangedLead() : ArmedEntry(1) {
    const RemoteAddr page{kEntries[0].value & ~std::uint64_t{0xfff}};
    EXPECT_TRUE(space.place_taps({page, page + 0x1000}, tid()));
  }
  template <std::size_t kSize>
  bool can_tap_with(int index, const std::array<std::uint8_t, kSize>& lead) {
    const auto was = *space.memory().value<std::array<std::uint8_t, kSize>>(kEntries[index]);
    EXPECT_TRUE(space.memory().write(kEntries[index], bytes_of(lead), tid()));
    Site& site = *space.find(kEntries[index] + kLeadOf[index]);
    const bool done = space.taps()->cells().tap(space.memory(), site, 1, {.asks_for_sites = false}, tid()).has_value();
    space.untap_all();
    EXPECT_TRUE(space.memory().write(kEntries[index], bytes_of(was), tid()));
    return done;
  }
};

TEST(TapArea, MovesOnlyTheInstructionThatWasThereWhenTheBreakpointWasSet) {
  ChangedLead armed;
  EXPECT_FALSE(armed.can_tap_with(kPushes, std::array<std::uint8_t, 2>{0xEB, 0x10})) << "a jump is longer elsewhere";
  EXPECT_FALSE(armed.can_tap_with(kLoadsTable, std::array<std::uint8_t, 7>{0x48, 0xC7, 0xC0, 1, 0, 0, 0}));
  EXPECT_TRUE(armed.can_tap_with(kPushes, std::array<std::uint8_t, 2>{0x41, 0x56}));
  EXPECT_EQ(armed.hits_to_end(), kEntryCount);
}

}  // namespace
}  // namespace fade::entry_pads
