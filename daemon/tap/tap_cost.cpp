#include "tap/tap_cost.hpp"

#include <sys/mman.h>
#include <x86intrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tap/gate.hpp"
#include "tap/machine_code.hpp"
#include "tap/ring_reader.hpp"
#include "tap/stub.hpp"
#include "tap/tables.hpp"
#include "tap/tsc_clock.hpp"

namespace fade::tap {
namespace {

constexpr std::uint64_t kCodeSize = 4096, kRingSize = 32 * 1024, kSize = kCodeSize + DataLayout::kSize + 2 * kRingSize;
constexpr std::uint64_t kStubAt = 512, kGateAt = 1792, kThunksAt = 2048, kThunkSize = 32;
constexpr int kBatches = 200, kCallsOfABatch = 100;

std::byte* at(RemoteAddr address) { return reinterpret_cast<std::byte*>(address.value); }
void set(RemoteAddr address, std::uint64_t value) { std::memcpy(at(address), &value, sizeof value); }

std::uint64_t thread_pointer() {
  std::uint64_t value;
  asm("mov %%fs:0, %0" : "=r"(value));
  return value;
}

// A tap in this process, whose function returns 0 at once.
class OwnTap {
 public:
  OwnTap()
      : memory_(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        code_{reinterpret_cast<std::uint64_t>(memory_)} {}
  OwnTap(const OwnTap&) = delete;
  OwnTap& operator=(const OwnTap&) = delete;
  ~OwnTap() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, kSize);
  }

  // False: this process may not have such memory.
  bool make() {
    if (memory_ == MAP_FAILED) return false;
    const Traps traps = traps_code(code_, data());
    place(code_, traps.code);
    MachineCode function(code_ + kStubAt - 16);
    function.raw({0x31, 0xC0, 0xC3});  // xor %eax, %eax; ret
    place(code_ + kStubAt - 16, function.finish());
    const Stub stub = stub_code({.success = 0}, {data(), kRingSize, traps.trap}, code_ + kStubAt, code_ + kStubAt - 16);
    place(code_ + kStubAt, stub.code);
    const RemoteAddr from = make_thunk(0, code_ + kStubAt - 16);
    make_thunk(1, code_ + kStubAt);
    const GateWays ways{data(), kRingSize, code_ + kStubAt, code_ + kStubAt - 16};
    place(code_ + kGateAt, gate_code(0, ways, code_ + kGateAt).code);
    make_thunk(2, code_ + kGateAt);
    set(data() + DataLayout::kMasksAt, kCountsOnly);
    know({from + kThunkSize, from + 2 * kThunkSize});
    set(data(), 1);
    set(ring() + RingLayout::kLimitAt, kRingSize);
    return ::mprotect(memory_, kCodeSize, PROT_READ | PROT_EXEC) == 0;
  }

  enum class Way : std::uint8_t { Direct, Tap, Gate };
  // TSC ticks of a batch of calls on that way.
  std::uint64_t batch(Way way) {
    set(ring() + RingLayout::kHeadAt, 0);
    const RemoteAddr thunk = code_ + kThunksAt + static_cast<std::uint64_t>(way) * kThunkSize;
    auto* const call = reinterpret_cast<void (*)()>(thunk.value);
    unsigned cpu;
    const std::uint64_t begin = __rdtscp(&cpu);
    for (int i = 0; i < kCallsOfABatch; ++i) call();
    return __rdtscp(&cpu) - begin;
  }
  // The records of the last batch that was tapped.
  std::vector<Record> records() const {
    std::vector<Record> out;
    RingReader(kRingSize).read({at(ring()), RingLayout{kRingSize}.mapped()}, out, 2 * kCallsOfABatch);
    return out;
  }

 private:
  RemoteAddr data() const { return code_ + kCodeSize; }
  RemoteAddr ring() const { return data() + DataLayout::kSize; }
  static void place(RemoteAddr where, const std::vector<std::uint8_t>& code) {
    std::memcpy(at(where), code.data(), code.size());
  }
  // Code that calls the function; returns the return address of that call.
  RemoteAddr make_thunk(std::uint64_t number, RemoteAddr function) {
    MachineCode code(code_ + kThunksAt + number * kThunkSize);
    code.add(Reg::sp, -8);
    code.call(function);
    const RemoteAddr from = code.here();
    code.add(Reg::sp, 8);
    code.raw({0xC3});
    place(code_ + kThunksAt + number * kThunkSize, code.finish());
    return from;
  }
  // Then the tap has nothing to ask.
  void know(std::initializer_list<RemoteAddr> return_addresses) {
    ThreadTable threads(data());
    for (const Word& word : threads.add(thread_pointer(), ring())) set(word.at, word.value);
    SiteTable sites(data());
    for (const RemoteAddr return_address : return_addresses)
      if (const auto word = sites.add(0, return_address)) set(word->at, word->value);
  }

  void* const memory_;
  const RemoteAddr code_;
};

}  // namespace

Result<TapCost> measure_tap() {
  OwnTap tap;
  if (!tap.make()) return fail("the cost of a tap was not measured", "no memory for code can be mapped");
  const TscClock::Sample begin = TscClock::sample();
  std::vector<std::int64_t> within, added, counted;
  for (int i = 0; i < kBatches; ++i) {
    const std::uint64_t direct = tap.batch(OwnTap::Way::Direct), gated = tap.batch(OwnTap::Way::Gate),
                        tapped = tap.batch(OwnTap::Way::Tap);
    counted.push_back(static_cast<std::int64_t>(gated) - static_cast<std::int64_t>(direct));
    added.push_back(static_cast<std::int64_t>(tapped) - static_cast<std::int64_t>(direct));
    const auto records = tap.records();
    for (std::size_t r = 0; r + 1 < records.size(); r += 2)
      within.push_back(static_cast<std::int64_t>(records[r + 1].tsc - records[r].tsc));
  }
  TscClock clock(begin, 0);
  clock.update(TscClock::sample());
  const auto in_ns = [&](Measured ticks, double each) {
    const double scale = clock.ns_per_tick() / each;
    return Measured{std::llround(static_cast<double>(ticks.median) * scale),
                    std::llround(static_cast<double>(ticks.spread) * scale)};
  };
  if (within.empty()) return fail("the cost of a tap was not measured", "no call was recorded");
  return TapCost{.calls = kBatches * kCallsOfABatch,
                 .within = in_ns(Measured::of(within), 1),
                 .call = in_ns(Measured::of(added), kCallsOfABatch),
                 .gate = in_ns(Measured::of(counted), kCallsOfABatch)};
}

}  // namespace fade::tap
