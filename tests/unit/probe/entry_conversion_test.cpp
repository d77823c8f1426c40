// Breakpoints at entries become jumps while the program runs: each step, and each place where a thread may be.
#include "probe/entry_conversion.hpp"

#include "probe/abandoned.hpp"
#include "probe/entry_pads.hpp"
#include "probe/instruction.hpp"
#include "probe/long_way.hpp"

asm(R"(
        .text
        .balign 16
fade_convert_none:
        lea 4(%rdi), %rax
        ret
)");
extern "C" long fade_convert_none(long);

namespace fade {
namespace {

using test::address_of;
using test::Waiting;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

constexpr test::Function kConverted[] = {fade_entry_5,     fade_entry_7,          fade_entry_8,
                                         fade_entry_thunk, fade_entry_bare_thunk, fade_entry_far_thunk};
constexpr std::uint64_t kLead[] = {1, 4, 2, 4, 7, 7};
constexpr std::uint8_t kDepth[] = {8, 0, 8, 0, 0, 0};
constexpr long kAdded[] = {5, 7, 8, 9, 9, 9};
constexpr int kCount = 6;

RemoteAddr entry_of(int i) { return address_of(kConverted[i]); }

FunctionEntry read_entry(const Memory& memory, RemoteAddr function) {
  FunctionEntry out = FunctionEntry::read(memory, function, 16);
  out.has_run = true;
  return out;
}

// With breakpoints at all of them. Returns their entries as they were.
std::vector<FunctionEntry> arm_breakpoints(AddressSpace& space, Tid stopped) {
  std::vector<FunctionEntry> out;
  const RemoteRange page{page_of(entry_of(0)), page_of(entry_of(0)) + kPageSize};
  if (!space.has_net() && !space.install_net(stopped, test::gadgets(), page)) return out;
  for (int i = 0; i < kCount; ++i) out.push_back(read_entry(space.memory(), entry_of(i)));
  for (const auto& site : space.entries().arm(out, stopped)) EXPECT_TRUE(site && (*site)->way == Way::Trap);
  return out;
}

bool begin_all(AddressSpace& space, Tid stopped) {
  bool done = true;
  for (const FunctionEntry& entry : arm_breakpoints(space, stopped))
    done &= space.conversion().begin(entry, stopped).has_value();
  return done;
}

bool finish_all(AddressSpace& space, Tid stopped) {
  bool done = true;
  for (int i = 0; i < kCount; ++i) {
    const auto jump = space.conversion().finish(entry_of(i), stopped);
    done &= jump && (*jump)->address == entry_of(i) + kLead[i] && (*jump)->lead.depth == kDepth[i];
  }
  return done;
}

// kill -9 between the two writes of finish() finds this.
void write_int3s(const AddressSpace& space, Tid stopped) {
  for (int i = 0; i < kCount; ++i) space.memory().write(entry_of(i), bytes_of(kInt3), stopped);
}

int call_rounds(long rounds) {
  for (long n = 0; n < rounds; ++n)
    for (int i = 0; i < kCount; ++i)
      if (kConverted[i](n) != n + kAdded[i]) return 1;
  return 33;
}

struct Converting {
  explicit Converting(long rounds)
      : program([] {}, [rounds] { return call_rounds(rounds); }), space(tracer, program.pid()) {
    EXPECT_TRUE(test::seize_all(tracer, program.pid()));
  }
  Tid tid() const { return program.tid(); }
  int hits_to_end(AddressSpace& of) {
    program.go();
    Tracee(tid()).resume();
    int hits = 0;
    for (Stop stop = tracer.next_of(tid()); stop.kind == Stop::Kind::Signal; stop = tracer.next_of(tid()))
      hits += test::handle_stop(of, stop);
    test::expect_exit(program.finish(), 33);
    return hits;
  }
  int hits_to_end() { return hits_to_end(space); }

  Waiting program;
  const Tracer tracer = test::make_tracer();
  AddressSpace space;
};

TEST(EntryConversion, BetweenBothStepsEveryCallIsOneStop) {
  Converting it(10);
  ASSERT_TRUE(begin_all(it.space, it.tid()));
  ASSERT_TRUE(begin_all(it.space, it.tid())) << "once more";
  EXPECT_THAT(test::changed_text(it.space.memory()), SizeIs(kCount));
  EXPECT_EQ(it.space.sites().armed(), kCount);
  EXPECT_EQ(it.hits_to_end(), 10 * kCount);
}

TEST(EntryConversion, AfterwardsEveryCallMeetsTheJumpAlone) {
  Converting it(10);
  ASSERT_TRUE(begin_all(it.space, it.tid()) && finish_all(it.space, it.tid()));
  EXPECT_THAT(test::changed_text(it.space.memory()), SizeIs(AllOf(Le(5 * kCount), Ge(4 * kCount))));
  EXPECT_EQ(it.space.sites().armed(), kCount);
  for (int i = 0; i < kCount; ++i) {
    const Site* const site = it.space.of_function(entry_of(i));
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(site->address, entry_of(i) + kLead[i]);
    EXPECT_EQ(it.space.arm(entry_of(i), it.tid()).value(), site) << "no second one";
  }
  EXPECT_EQ(it.hits_to_end(), 10 * kCount);
}

TEST(EntryConversion, TheBytesOfTheJumpAreNamed) {
  Converting it(1);
  const auto entries = arm_breakpoints(it.space, it.tid());
  for (int i = 0; i < kCount; ++i) {
    const auto covered = it.space.conversion().begin(entries[static_cast<std::size_t>(i)], it.tid());
    ASSERT_TRUE(covered);
    EXPECT_EQ(covered->begin, entry_of(i) + kLead[i]);
    EXPECT_GE(covered->size(), kJumpSize);
  }
  EXPECT_EQ(it.hits_to_end(), kCount);
}

TEST(EntryConversion, NothingIsDoneWithoutBreakpointRoomOrFirstStep) {
  Converting it(2);
  const RemoteAddr none = address_of(fade_convert_none);
  const auto entries = arm_breakpoints(it.space, it.tid());
  EXPECT_FALSE(it.space.conversion().begin(read_entry(it.space.memory(), none), it.tid()));
  ASSERT_TRUE(it.space.arm(none, it.tid()));
  EXPECT_FALSE(it.space.conversion().begin(read_entry(it.space.memory(), none), it.tid()));
  FunctionEntry with_branch = entries[0];
  with_branch.untouched = 0;
  EXPECT_FALSE(it.space.conversion().begin(with_branch, it.tid()));
  EXPECT_FALSE(it.space.conversion().finish(entry_of(0), it.tid()));
  EXPECT_EQ(it.hits_to_end(), 2 * kCount);
}

TEST(EntryConversion, ChangedCodeIsLeftAlone) {
  Converting it(1);
  ASSERT_TRUE(begin_all(it.space, it.tid()));
  const RemoteAddr behind = entry_of(0) + kLead[0];
  const auto was = *it.space.memory().value<std::uint8_t>(behind);
  it.space.memory().write(behind, bytes_of(std::uint8_t{0x90}), it.tid());
  EXPECT_FALSE(it.space.conversion().finish(entry_of(0), it.tid()));
  it.space.memory().write(behind, bytes_of(was), it.tid());
  EXPECT_EQ(it.hits_to_end(), kCount);
}

TEST(EntryConversion, PutBackAtAnyStepLeavesTheTextAsItWas) {
  for (const int steps : {1, 2, 3}) {
    Converting it(3);
    ASSERT_TRUE(begin_all(it.space, it.tid()));
    if (steps > 1) {
      ASSERT_TRUE(finish_all(it.space, it.tid()));
    }
    it.space.put_back(it.tid());
    EXPECT_THAT(test::changed_text(it.space.memory()), IsEmpty()) << steps;
    EXPECT_EQ(it.hits_to_end(), 0);
  }
}

// A copy from before the first step, between the steps, and from in the middle of the second one.
TEST(EntryConversion, ACopyOfAForkAtAnyStepIsMended) {
  for (const int step : {0, 1, 2, 3}) {
    Converting it(3);
    ASSERT_TRUE(begin_all(it.space, it.tid()));
    if (step == 0)
      for (int i = 0; i < kCount; ++i) {  // the slot as it was
        const Site& site = *it.space.find(entry_of(i));
        std::vector<std::uint8_t> code(kLead[i]);
        ASSERT_TRUE(it.space.memory().read_exactly(site.slot, std::as_writable_bytes(std::span(code))));
        const auto back = jump_code(site.slot + kLead[i], entry_of(i) + kLead[i]);
        code.insert(code.end(), back.begin(), back.end());
        it.space.memory().write(site.slot, std::as_bytes(std::span(code)), it.tid());
      }
    const auto unfinished = it.space.fork_copy(it.program.pid());
    AddressSpace* of = unfinished.get();
    if (step >= 2) {
      ASSERT_TRUE(finish_all(it.space, it.tid()));
    }
    if (step == 2) write_int3s(it.space, it.tid());
    const auto finished = it.space.fork_copy(it.program.pid());
    if (step >= 2) of = finished.get();
    of->mend_copy(it.tid());
    EXPECT_EQ(of->sites().armed(), kCount) << step;
    EXPECT_EQ(it.hits_to_end(*of), 3 * kCount) << step;
  }
}

// The memory is from before the second step, the sites are from after it.
TEST(EntryConversion, ACopyThatLacksTheJumpGetsABreakpoint) {
  Converting it(3);
  ASSERT_TRUE(begin_all(it.space, it.tid()) && finish_all(it.space, it.tid()));
  for (int i = 0; i < kCount; ++i) {
    const auto* const original = reinterpret_cast<const std::byte*>(entry_of(i).value);
    it.space.memory().write(entry_of(i), std::span(original, 16), it.tid());
  }
  write_int3s(it.space, it.tid());
  const auto copy = it.space.fork_copy(it.program.pid());
  copy->mend_copy(it.tid());
  EXPECT_EQ(copy->sites().armed(), kCount);
  EXPECT_THAT(test::changed_text(copy->memory()), SizeIs(kCount));
  EXPECT_EQ(it.hits_to_end(*copy), 3 * kCount);
}

TEST(EntryConversion, AThreadInTheLongWayGoesBackToTheEntry) {
  Converting it(1);
  ASSERT_TRUE(begin_all(it.space, it.tid()));
  const auto was = *Tracee(it.tid()).registers();
  for (const bool is_finished : {false, true}) {
    if (is_finished) {
      ASSERT_TRUE(finish_all(it.space, it.tid()));
    }
    for (int i = 0; i < kCount; ++i) {
      const Site& site = *it.space.find(entry_of(i));
      const Site& jump = *it.space.find(entry_of(i) + kLead[i]);
      auto at = was;
      at.rsp = was.rsp - kDepth[i];
      std::vector<RemoteAddr> behind_lead{site.slot + kLead[i], site.slot + LongWay::kFarJumpAt};
      if (!is_finished) behind_lead.push_back(jump.slot);
      for (const RemoteAddr place : behind_lead) {
        at.rip = place.value;
        const auto own = it.space.our_code().own_registers(at);
        ASSERT_TRUE(own);
        EXPECT_EQ(own->ip(), entry_of(i));
        EXPECT_EQ(own->sp(), RemoteAddr{was.rsp});
        const auto hit = it.space.our_code().hit_again(at);
        ASSERT_TRUE(hit);
        EXPECT_EQ(hit->site, is_finished ? jump.address : entry_of(i));
        EXPECT_EQ(hit->sp, RemoteAddr{is_finished ? at.rsp : was.rsp});
        if (place != jump.slot) {
          EXPECT_EQ(it.space.our_code().own_address(place), jump.address);
        }
      }
      at.rip = site.slot.value;
      at.rsp = was.rsp;
      EXPECT_EQ(it.space.our_code().own_registers(at)->ip(), entry_of(i));
      EXPECT_EQ(it.space.our_code().hit_again(at)->site, is_finished ? jump.address : entry_of(i));
    }
  }
  EXPECT_EQ(it.hits_to_end(), kCount);
}

TEST(EntryConversion, AJumpThatTheProgramTookOutBecomesABreakpointAgain) {
  Converting it(2);
  ASSERT_TRUE(begin_all(it.space, it.tid()) && finish_all(it.space, it.tid()));
  for (int i = 0; i < kCount; ++i) {
    const auto* const original = reinterpret_cast<const std::byte*>(entry_of(i).value);
    it.space.memory().write(entry_of(i), std::span(original, 16), it.tid());
  }
  for (const VanishedSite& one : it.space.vanished().all()) {
    EXPECT_EQ(one.instead, VanishedSite::Instead::Original);
    EXPECT_TRUE(it.space.vanished().repair(one.address, it.tid()));
  }
  EXPECT_THAT(test::changed_text(it.space.memory()), SizeIs(kCount));
  EXPECT_EQ(it.hits_to_end(), 2 * kCount);
}

// ---------------------------------------------------------------- without a tracer

void leave_at(Pid pid, int step) {
  test::trace_and_die(pid, [pid, step](AddressSpace& space) {
    const Tid tid = leader_of(pid);
    EXPECT_TRUE(begin_all(space, tid));
    if (step >= 2) {
      EXPECT_TRUE(finish_all(space, tid));
    }
    if (step == 2) write_int3s(space, tid);
  });
}

TEST(EntryConversion, TheProgramIsRightIfFadeIsKilledAtAnyStep) {
  for (const int step : {1, 2, 3}) {
    Waiting program([] {}, [] { return call_rounds(100); });
    leave_at(program.pid(), step);
    test::expect_exit(program.finish(), 33);
  }
}

TEST(EntryConversion, TheNextFadePutsEveryByteBackAndConvertsAgain) {
  for (const int step : {1, 2, 3}) {
    Converting it(5);
    Tracee(it.tid()).detach();
    leave_at(it.program.pid(), step);
    ASSERT_TRUE(test::seize_all(it.tracer, it.program.pid()));
    const auto left = it.space.take_over(it.tid());
    ASSERT_TRUE(left && *left);
    EXPECT_EQ((*left)->foreign, 0u) << step;
    EXPECT_EQ((*left)->sites, 2u * kCount) << step;
    EXPECT_THAT(test::changed_text(it.space.memory()), IsEmpty()) << step;
    test::step_out_of_the_net(it.tracer, it.space, it.program.pid());
    ASSERT_TRUE(begin_all(it.space, it.tid()) && finish_all(it.space, it.tid())) << step;
    EXPECT_THAT(test::changed_text(it.space.memory()), SizeIs(AllOf(Le(5 * kCount), Ge(4 * kCount)))) << step;
    EXPECT_EQ(it.hits_to_end(), 5 * kCount) << step;
  }
}

}  // namespace
}  // namespace fade
