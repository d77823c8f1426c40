// A thread is stepped through the tap of a function: a signal at any instruction shows it the program's own registers.
#include "session/tap_place.hpp"

#include <x86intrin.h>

#include "probe/entry_pads.hpp"

namespace fade::entry_pads {
namespace {

constexpr std::uint64_t kKept = 0x1122334455667788;  // in %rbp, which belongs to the caller

enum class Way { Record, Pass };

struct TappedEntry : ArmedEntry {
  explicit TappedEntry(int index) : ArmedEntry(1), site(*space.find(kEntries[index] + kLeadOf[index])) {
    const RemoteAddr page{kEntries[0].value & ~std::uint64_t{0xfff}};
    EXPECT_TRUE(space.place_taps({page, page + 0x1000}, tid()));
    const tap::Tapped how{.stack_words = static_cast<std::uint8_t>(kWordsOf[index]), .asks_for_sites = false};
    EXPECT_TRUE(area().cells().tap(space.memory(), site, 1, how, tid()));
    auto made = space.make_rings(tid());
    EXPECT_TRUE(made);
    rings = *made;
    const std::size_t ring = *rings->take();
    const auto pointer = space.memory().value<std::uint64_t>({Tracee(tid()).registers()->fs_base});
    TapArea::write(space.memory(), area().threads().add(*pointer, rings->at(ring)), tid());
    rings->allow(ring, TapRings::kLayout.size / 2);
  }
  TapArea& area() { return *space.taps(); }
  const TapCell& cell() {
    return *std::ranges::find_if(area().cells().all(), [](const auto& each) { return each.entry == 1; });
  }

  Site& site;
  std::shared_ptr<TapRings> rings;
};

struct Seen {
  Registers at;
  std::optional<TapPlace> place;
};

// The thread calls the function, and is stepped until it is back.
std::vector<Seen> steps_of_call(TappedEntry& tapped, const Registers& at_entry, RemoteAddr back) {
  const Tracee tracee(tapped.tid());
  tracee.set_registers(at_entry);
  std::vector<Seen> out;
  for (Registers now = at_entry; now.ip() != back && out.size() < 500; now = *tracee.registers()) {
    if (tapped.area().code().contains(now.ip()) || now.ip() == tapped.site.slot)
      out.push_back({now, place_in_tap(tapped.space, now)});
    tracee.step();
    EXPECT_EQ(tapped.tracer.next_of(tapped.tid()).signal, SIGTRAP) << std::hex << now.rip;
  }
  out.push_back({*tracee.registers(), std::nullopt});
  return out;
}

std::array<std::uint64_t, 6> callee_saved(const Registers& of) {
  return {of.rbp, of.rbx, of.r12, of.r13, of.r14, of.r15};
}

class TapPlaces : public ::testing::TestWithParam<std::tuple<int, Way>> {
 protected:
  void SetUp() override {
    at_entry = was;
    at_entry.rip = kEntries[std::get<0>(GetParam())].value;
    at_entry.rsp -= 512;
    at_entry.rbp = kKept;
    at_entry.orig_rax = ~std::uint64_t{0};
    at_entry.rdi = 41;
    at_entry.rdx = 43;
    ASSERT_TRUE(tapped.space.memory().write(at_entry.sp(), bytes_of(back), tapped.tid()));
    tapped.area().enable(tapped.space.memory(), std::get<1>(GetParam()) == Way::Record, tapped.tid());
  }
  void TearDown() override {
    Tracee(tapped.tid()).set_registers(was);
    tapped.space.untap_all();
    EXPECT_EQ(tapped.hits_to_end(), kEntryCount);
  }
  void expect_own(const Seen& seen, const Registers& at_return) {
    const TapPlace& place = *seen.place;
    const Registers& own = place.own;
    const RemoteAddr at = seen.at.ip();
    EXPECT_EQ(own.ip(), place.is_at_entry() ? at_entry.ip() : back) << at.value;
    EXPECT_EQ(own.rsp, place.is_at_entry() ? at_entry.rsp : at_return.rsp) << at.value;
    EXPECT_EQ(callee_saved(own), callee_saved(at_entry)) << at.value;
    if (place.is_at_entry()) EXPECT_EQ(own.argument_words(), at_entry.argument_words()) << at.value;
    else EXPECT_EQ(own.rax, at_return.rax) << at.value;
    const bool is_in_function = is_recorded() && (at == tapped.site.slot || at >= tapped.cell().stub.end);
    EXPECT_EQ(place.has_called, !place.is_at_entry() || is_in_function) << at.value;
    EXPECT_EQ(place.sp, at_entry.sp()) << at.value;
  }
  static bool is_recorded() { return std::get<1>(GetParam()) == Way::Record; }

  TappedEntry tapped{std::get<0>(GetParam())};
  const Registers was = *Tracee(tapped.tid()).registers();
  const RemoteAddr back = address_of(fade_test_syscall_ret);
  Registers at_entry{};
};

TEST_P(TapPlaces, ShowTheProgramsOwnRegisters) {
  const auto seen = steps_of_call(tapped, at_entry, back);
  const Registers at_return = seen.back().at;
  ASSERT_EQ(at_return.ip(), back);
  EXPECT_EQ(at_return.rsp, at_entry.rsp + 8);
  EXPECT_EQ(callee_saved(at_return), callee_saved(at_entry));
  ASSERT_GT(seen.size(), is_recorded() ? 60u : 6u);
  for (const Seen& each : std::span(seen).first(seen.size() - 1)) {
    ASSERT_TRUE(each.place) << each.at.rip;
    expect_own(each, at_return);
  }
}

INSTANTIATE_TEST_SUITE_P(AllEntries, TapPlaces,
                         ::testing::Combine(::testing::Range(0, kEntryCount),
                                            ::testing::Values(Way::Record, Way::Pass)));

}  // namespace
}  // namespace fade::entry_pads
