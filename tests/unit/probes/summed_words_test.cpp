// The words by which calls of a function are alike.
#include "probes/summed_words.hpp"

#include <gmock/gmock.h>

#include "probes/built_in.hpp"
#include "probes/call_facts.hpp"

namespace fade::probes {
namespace {

const Probe& built_in(const std::string& symbol) {
  for (const ProbePtr& one : built_in_probes())
    if (one->symbol == symbol) return *one;
  throw std::runtime_error(symbol);
}

struct Call {
  std::array<std::uint64_t, 6> registers{};
  std::array<std::uint64_t, 6> stack{};
  std::uint64_t out = 0;
  bool has_out = true;

  SummedWords::Places places() const {
    const auto bytes = [](const auto& words) { return std::as_bytes(std::span(words)).data(); };
    return {bytes(registers), bytes(stack), has_out ? std::as_bytes(std::span(&out, 1)).data() : nullptr};
  }
};

std::vector<std::uint64_t> read(const std::string& symbol, const Call& call) {
  const auto words = SummedWords::of(built_in(symbol));
  SummedWords::Values values{};
  if (!words || !words->read(call.places(), values)) return {~std::uint64_t{0}};
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(words->size())};
}

using testing::ElementsAre;
constexpr std::uint64_t kHigh = std::uint64_t{0xffffffff} << 32;

TEST(SummedWords, ACopyIsItsSidesBytesKindAndStream) {
  EXPECT_THAT(read("hipMemcpy", {{1, 2, 3, kHigh | 4, 5, 6}}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read("hipMemcpyAsync", {{1, 2, 3, kHigh | 4, 5, 6}}), ElementsAre(1, 2, 3, 4, 5));
}

// The address of the kernel's arguments is left out.
TEST(SummedWords, ALaunchIsItsKernelShapeAndStream) {
  const std::uint64_t grid = 2ull << 32 | 1, block = 5ull << 32 | 4;
  EXPECT_THAT(read("hipLaunchKernel", {{9, grid, kHigh | 3, block, kHigh | 6, 0x7ffd}, {512, 0xabc, 77}}),
              ElementsAre(9, grid, 3, block, 6, 512, 0xabc));
}

TEST(SummedWords, AnAnswerIsPartOfTheCall) {
  EXPECT_THAT(read("hipGetDeviceCount", {{0x7ffd, 5}, {}, kHigh | 2}), ElementsAre(2));
  EXPECT_THAT(read("hipDeviceGetAttribute", {{0x7ffd, kHigh | 5, kHigh | 1}, {}, kHigh | 8}), ElementsAre(5, 1, 8));
  EXPECT_THAT(read("hipGetDeviceCount", {.has_out = false}), ElementsAre(~std::uint64_t{0}));
}

TEST(SummedWords, WithoutABookAllCallsAreAlike) { EXPECT_THAT(read("hipPeekAtLastError", {}), ElementsAre()); }

TEST(SummedWords, SomeCallsNeedARecordEach) {
  for (const char* symbol :
       {"hipMalloc", "hipFree", "hipMallocAsync", "hipSetDevice", "hipStreamCreate", "hipGraphLaunch",
        "hipDeviceSynchronize", "hipGetDeviceProperties", "hipMemGetInfo", "hipStreamWaitEvent"})
    EXPECT_FALSE(SummedWords::of(built_in(symbol))) << symbol;
}

// The record that is made of the words says the same as the one that they were read from.
TEST(SummedWords, ARecordCanBeMadeOfThem) {
  const Call call{{9, 2ull << 32 | 1, 3, 5ull << 32 | 4, 6, 0x7ffd}, {512, 0xabc}};
  const Probe& launch = built_in("hipLaunchKernel");
  const auto words = SummedWords::of(launch);
  ASSERT_TRUE(words);
  SummedWords::Values values{};
  ASSERT_TRUE(words->read(call.places(), values));
  CallRecord record;
  std::vector<std::byte> payload;
  words->write(values, record, payload);
  const auto uses = kernels_used(launch, record, payload);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].kernel, 9u);
  EXPECT_EQ(uses[0].stream, 0xabc);
  ASSERT_TRUE(uses[0].shape);
  EXPECT_EQ(uses[0].shape->grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(uses[0].shape->block, (Dim3{4, 5, 6}));
  EXPECT_EQ(uses[0].shape->shared_bytes, 512u);
}

// Whatever words a function has, they come back from the record.
TEST(SummedWords, NothingIsLostInARecord) {
  std::size_t n = 0;
  for (const ProbePtr& one : built_in_probes()) {
    const auto words = SummedWords::of(*one);
    if (!words || words->size() == 0) continue;
    ++n;
    Call call{{11, 12, 13, 14, 15, 16}, {21, 22, 23, 24, 25, 26}, 31};
    SummedWords::Values values{}, again{};
    ASSERT_TRUE(words->read(call.places(), values));
    CallRecord record;
    std::vector<std::byte> payload;
    words->write(values, record, payload);
    Call copy{.registers = record.words, .has_out = false};
    for_each_piece(payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
      auto* const into = header.kind == PieceKind::Stack ? copy.stack.data() : &copy.out;
      std::memcpy(into, bytes.data(), bytes.size());
      copy.has_out |= header.kind == PieceKind::Out;
    });
    ASSERT_TRUE(words->read(copy.places(), again)) << one->symbol;
    EXPECT_EQ(values, again) << one->symbol;
  }
  EXPECT_GT(n, 40u);
}

}  // namespace
}  // namespace fade::probes
