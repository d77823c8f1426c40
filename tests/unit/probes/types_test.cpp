#include "probes/types.hpp"

#include <gtest/gtest.h>

namespace fade::probes {
namespace {

TEST(EnumNames, FollowTheVersionOfTheLibrary) {
  EXPECT_EQ(enum_name("hipMemoryType", 0, 5), "hipMemoryTypeHost");
  EXPECT_EQ(enum_name("hipMemoryType", 0, 6), "hipMemoryTypeUnregistered");
  EXPECT_EQ(enum_name("hipMemoryType", 2, 5), "hipMemoryTypeArray");
  EXPECT_EQ(enum_name("hipMemoryType", 2, 7), "hipMemoryTypeDevice");
  EXPECT_EQ(enum_name("hipMemoryType", 11, 5), std::nullopt);
}

TEST(EnumNames, TakeTheMinorVersionWhereItIsKnown) {
  EXPECT_EQ(enum_name("hipGraphNodeType", 1, 5, 2), "hipGraphNodeTypeKernel");
  EXPECT_EQ(enum_name("hipGraphNodeType", 1, 5, 7), "hipGraphNodeTypeMemcpy");
  EXPECT_EQ(enum_name("hipGraphNodeType", 1, 5), "hipGraphNodeTypeMemcpy");
  EXPECT_EQ(enum_name("hipGraphNodeType", 1, 0), "hipGraphNodeTypeMemcpy");
}

TEST(EnumNames, KnowTheErrorsPeopleMeet) {
  EXPECT_EQ(enum_name("hipError_t", 0, 7), "hipSuccess");
  EXPECT_EQ(enum_name("hipError_t", 2, 7), "hipErrorOutOfMemory");
  EXPECT_EQ(enum_name("hipError_t", 98, 5), "hipErrorInvalidDeviceFunction");
  EXPECT_EQ(enum_name("hipError_t", 209, 6), "hipErrorNoBinaryForGpu");
  EXPECT_EQ(enum_name("hipError_t", 1054, 7), "hipErrorTbd");
  EXPECT_EQ(enum_name("hipError_t", 12345, 7), std::nullopt);
  EXPECT_EQ(enum_name("hiprtcResult", 6, 7), "HIPRTC_ERROR_COMPILATION");
  EXPECT_EQ(enum_name("hipDeviceAttribute_t", 63, 7), "hipDeviceAttributeMultiprocessorCount");
  EXPECT_EQ(enum_name("no_such_type", 0, 7), std::nullopt);
}

TEST(FlagsText, NamesBitsAndKeepsTheRest) {
  EXPECT_EQ(flags_text("hipStreamFlags", 0), "hipStreamDefault");
  EXPECT_EQ(flags_text("hipStreamFlags", 0x41), "hipStreamNonBlocking|0x40");
  EXPECT_EQ(flags_text("hipHostMallocFlags", 0x40000003),
            "hipHostMallocPortable|hipHostMallocMapped|hipHostMallocCoherent");
  EXPECT_EQ(flags_text("hipDeviceMallocFlags", 3), "hipDeviceMallocUncached");
  EXPECT_EQ(flags_text("hipIpcMemFlags", 0), "0");
  EXPECT_EQ(flags_text("no_such_type", 5), "0x5");
}

}  // namespace
}  // namespace fade::probes
