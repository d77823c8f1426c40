// Where the values of roles stand: in registers, on the stack, behind pointers, in structures.
#include "probes/role_index.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "probes/arguments.hpp"
#include "probes/catalogue.hpp"
#include "probes/probe_fixtures.hpp"

namespace fade::probes {
namespace {

TEST(RoleIndex, HasNoPlaceForWhatNoArgumentMeans) {
  const Probe probe = probe_of("hipError_t f(size_t n @bytes, int other)");
  EXPECT_EQ(probe.places(Role::Bytes).size(), 1U);
  EXPECT_TRUE(probe.places(Role::Stream).empty());
  EXPECT_TRUE(probe.places(Role::Object).empty()) << "the last role";
}

TEST(RoleIndex, AnArgumentIsCutToItsSize) {
  const Probe probe = probe_of("hipError_t f(int device @device)");
  const Call call = Call{}.word(0, 0xffffffff00000003);
  EXPECT_EQ(value_with_role(probe, Role::Device, call.record, call.payload), 3U);
}

TEST(RoleIndex, WhatIsKnownOnlyAtReturnIsNoArgument) {
  const Probe probe = probe_of("hipError_t f(out void **p @address, size_t n @bytes)");
  const Call call = Call{}.word(1, 64).piece(PieceKind::Out, 0, bytes_of(std::uint64_t{0x7000}));
  EXPECT_EQ(out_value(probe, Role::Address, call.record, call.payload), 0x7000U);
  EXPECT_EQ(out_value(probe, Role::Bytes, call.record, call.payload), std::nullopt);
  EXPECT_EQ(value_with_role(probe, Role::Bytes, call.record, call.payload), 64U);
  EXPECT_EQ(out_value(probe, Role::Address, call.record, {}), std::nullopt) << "it could not be read";
}

TEST(RoleIndex, WhatLiesOnTheStackNeedsItsPiece) {
  const Probe probe = probe_of("hipError_t f(int a, int b, int c, int d, int e, int g, int h, hipStream_t s @stream)");
  const std::array<std::uint64_t, 2> stack = {1, 0xabc};
  const Call with = Call{}.piece(PieceKind::Stack, 0, bytes_of(stack)), without;
  EXPECT_EQ(value_with_role(probe, Role::Stream, with.record, with.payload), 0xabcU);
  EXPECT_EQ(value_with_role(probe, Role::Stream, without.record, without.payload), std::nullopt);
}

TEST(RoleIndex, ACopyOfAProbeHasItsOwn) {
  Probe copy;
  {
    const Probe probe = probe_of("hipError_t f(size_t n @bytes)");
    ASSERT_EQ(probe.places(Role::Bytes).size(), 1U);
    copy = probe;
  }
  copy.parameters[0].role = Role::Count;
  EXPECT_TRUE(copy.places(Role::Bytes).empty());
  EXPECT_EQ(copy.places(Role::Count).size(), 1U);
}

TEST(RoleIndex, ThreadsMayAskAtTheSameTime) {
  const Probe probe = probe_of("hipError_t f(size_t n @bytes)");
  std::vector<const RolePlace*> seen(4);
  std::vector<std::thread> threads;
  for (const RolePlace*& place : seen) threads.emplace_back([&] { place = &probe.places(Role::Bytes).front(); });
  for (std::thread& thread : threads) thread.join();
  for (const RolePlace* place : seen) EXPECT_EQ(place, seen.front());
}

}  // namespace
}  // namespace fade::probes
