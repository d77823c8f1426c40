// What the tables of launches, copies and allocations get from a call, with the built-in prototypes.
#include "probes/call_facts.hpp"

#include <gtest/gtest.h>

#include "probes/built_in.hpp"
#include "probes/probe_fixtures.hpp"

namespace fade::probes {
namespace {

class CallFacts : public testing::Test {
 protected:
  const Probe& probe(const std::string& symbol) {
    held_ = probe_called(symbol, built_in_probes());
    return *held_;
  }
  ProbePtr held_;
};

std::uint64_t pair(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }

TEST_F(CallFacts, ALaunchByDim3) {
  Call call;
  const std::array<std::uint64_t, 2> stack = {1024, 0xabc0};
  call.word(0, 0x5000)
      .word(1, pair(96, 2))
      .word(2, 3)
      .word(3, pair(256, 1))
      .word(4, 1)
      .piece(PieceKind::Stack, 0, bytes_of(stack));
  const Probe& p = probe("hipLaunchKernel");
  const auto shape = launch_shape(p, call.record, call.payload);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->grid, (Dim3{96, 2, 3}));
  EXPECT_EQ(shape->block, (Dim3{256, 1, 1}));
  EXPECT_EQ(shape->shared_bytes, 1024U);
  EXPECT_EQ(value_with_role(p, Role::Stream, call.record, call.payload), 0xabc0U);
  EXPECT_EQ(value_with_role(p, Role::Kernel, call.record, call.payload), 0x5000U);
}

TEST_F(CallFacts, ALaunchByNumbers) {
  Call call;
  const std::array<std::uint64_t, 3> stack = {1, 512, 0x77};
  call.word(0, 0x1).word(1, 10).word(2, 20).word(3, 30).word(4, 64).word(5, 4).piece(PieceKind::Stack, 0,
                                                                                     bytes_of(stack));
  const auto shape = launch_shape(probe("hipModuleLaunchKernel"), call.record, call.payload);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->grid, (Dim3{10, 20, 30}));
  EXPECT_EQ(shape->block, (Dim3{64, 4, 1}));
  EXPECT_EQ(shape->shared_bytes, 512U);
}

TEST_F(CallFacts, AGridInWorkItemsIsDividedByTheBlock) {
  Call call;
  const std::array<std::uint64_t, 3> stack = {1, 0, 0x77};
  call.word(1, 1000).word(2, 1).word(3, 1).word(4, 256).word(5, 0).piece(PieceKind::Stack, 0, bytes_of(stack));
  const auto shape = launch_shape(probe("hipExtModuleLaunchKernel"), call.record, call.payload);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->grid, (Dim3{4, 1, 1}));
}

TEST_F(CallFacts, ALaunchByConfiguration) {
  struct {
    std::uint32_t grid[3] = {7, 8, 9}, block[3] = {32, 2, 1};
    std::uint64_t shared = 64, stream = 0x99, attributes = 0, count = 0;
  } config;
  Call call;
  call.word(0, 0x10).word(1, 0x5000).piece(PieceKind::In, 0, bytes_of(config));
  const Probe& p = probe("hipLaunchKernelExC");
  const auto shape = launch_shape(p, call.record, call.payload);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->grid, (Dim3{7, 8, 9}));
  EXPECT_EQ(shape->block, (Dim3{32, 2, 1}));
  EXPECT_EQ(shape->shared_bytes, 64U);
  EXPECT_EQ(value_with_role(p, Role::Stream, call.record, call.payload), 0x99U);
  EXPECT_FALSE(launch_shape(p, call.record, {})) << "the configuration could not be read";
  EXPECT_FALSE(launch_shape(probe("hipLaunchByPtr"), call.record, {}));
}

TEST_F(CallFacts, AnAllocation) {
  Call call;
  call.word(0, 0x7ffe).word(1, 1 << 20).piece(PieceKind::Out, 0, bytes_of(std::uint64_t{0x7f00}));
  const Probe& p = probe("hipMalloc");
  EXPECT_EQ(byte_count(p, call.record, call.payload), 1U << 20);
  EXPECT_EQ(out_value(p, Role::Address, call.record, call.payload), 0x7f00U);
  EXPECT_EQ(out_value(p, Role::Address, call.record, {}), std::nullopt);
}

TEST_F(CallFacts, APitchedAllocation) {
  Call call;
  const std::array<std::uint64_t, 3> extent = {640, 480, 2};
  const std::array<std::uint64_t, 4> pitched = {0x7f00, 1024, 640, 480};
  call.piece(PieceKind::Stack, 0, bytes_of(extent)).piece(PieceKind::Out, 0, bytes_of(pitched));
  const Probe& p = probe("hipMalloc3D");
  EXPECT_EQ(byte_count(p, call.record, call.payload), 1024U * 480 * 2);
  EXPECT_EQ(out_value(p, Role::Address, call.record, call.payload), 0x7f00U);
}

TEST_F(CallFacts, CopiesAndFills) {
  Call call;
  call.word(0, 0xd0).word(1, 0x50).word(2, 4096).word(3, 0xffffffff00000002);
  EXPECT_EQ(byte_count(probe("hipMemcpy"), call.record, {}), 4096U);
  EXPECT_EQ(copy_kind(*held_, call.record, {}), 2);
  EXPECT_EQ(value_with_role(*held_, Role::Destination, call.record, {}), 0xd0U);
  EXPECT_EQ(copy_kind(probe("hipMemcpyHtoDAsync"), call.record, {}), 1);
  EXPECT_EQ(copy_kind(probe("hipMemcpyPeer"), call.record, {}), 3);
  EXPECT_EQ(byte_count(probe("hipMemsetD32"), call.record, {}), 4 * 4096U);
  EXPECT_EQ(byte_count(probe("hipMemsetD16"), call.record, {}), 2 * 4096U);
}

TEST_F(CallFacts, ACopyOfThreeDimensions) {
  std::array<std::uint64_t, 20> parameters{};
  parameters[4] = 0x5000;   // srcPtr.ptr
  parameters[12] = 0xd000;  // dstPtr.ptr
  parameters[16] = 64;      // extent
  parameters[17] = 8;
  parameters[18] = 2;
  parameters[19] = 1;  // kind
  Call call;
  call.piece(PieceKind::In, 0, bytes_of(parameters));
  const Probe& p = probe("hipMemcpy3DAsync");
  EXPECT_EQ(byte_count(p, call.record, call.payload), 64U * 8 * 2);
  EXPECT_EQ(copy_kind(p, call.record, call.payload), 1);
  EXPECT_EQ(value_with_role(p, Role::Source, call.record, call.payload), 0x5000U);
  EXPECT_EQ(value_with_role(p, Role::Destination, call.record, call.payload), 0xd000U);
}

TEST_F(CallFacts, ASizeThatOverflowsIsNotTold) {
  Call call;
  call.word(3, std::uint64_t{1} << 63).word(4, 4);
  EXPECT_EQ(byte_count(probe("hipMemset2D"), call.record, {}), std::nullopt);
  call.word(3, 100);
  EXPECT_EQ(byte_count(*held_, call.record, {}), 400U);
}

TEST_F(CallFacts, ArgumentsAreMaskedToTheirSize) {
  Call call;
  call.word(0, 0xdeadbeef00000001).word(1, ~std::uint64_t{0});
  const Probe& p = probe("hipSetDevice");
  EXPECT_EQ(argument(p, p.parameters[0], call.record, {}), 1U);
  EXPECT_EQ(value_with_role(p, Role::Device, call.record, {}), 1U);
}

TEST_F(CallFacts, AKernelsNameAndHandle) {
  Call call;
  call.word(0, 0x10).word(1, 0x20).word(2, 0x30);
  call.piece(PieceKind::String, 2, bytes_of(std::string("_Z4vaddPfS_i")))
      .piece(PieceKind::Out, 0, bytes_of(std::uint64_t{0xf00}));
  const Probe& p = probe("hipModuleGetFunction");
  EXPECT_EQ(string_argument(p, *p.with_role(Role::KernelName), call.record, call.payload), "_Z4vaddPfS_i");
  EXPECT_EQ(out_value(p, Role::Kernel, call.record, call.payload), 0xf00U);
}

}  // namespace
}  // namespace fade::probes
