// The compiler's own view of AMD's header, where one is installed (Debian: libamdhip64-dev).
#include "probes/device_properties.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#if __has_include(<hip/hip_runtime_api.h>) && __has_include(<hip/hip_version.h>)
#define __HIP_PLATFORM_AMD__ 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#pragma GCC diagnostic pop
#define FADE_VENDOR_HEADER 1
#endif

namespace fade::probes {
namespace {

#ifdef FADE_VENDOR_HEADER
// From 6.0 on the header gives the name hipDeviceProp_t to the new form.
const Layout& layout_of_header() { return HIP_VERSION_MAJOR >= 6 ? layout_r0600() : layout_r0000(); }

struct Member {
  const char* name;
  std::size_t offset, size;
};
#define MEMBER(name) \
  Member { #name, offsetof(hipDeviceProp_t, name), sizeof(hipDeviceProp_t{}.name) }

const Member kMembers[] = {
    MEMBER(name),
    MEMBER(totalGlobalMem),
    MEMBER(sharedMemPerBlock),
    MEMBER(regsPerBlock),
    MEMBER(warpSize),
    MEMBER(maxThreadsPerBlock),
    MEMBER(maxThreadsDim),
    MEMBER(maxGridSize),
    MEMBER(clockRate),
    MEMBER(memoryClockRate),
    MEMBER(memoryBusWidth),
    MEMBER(totalConstMem),
    MEMBER(major),
    MEMBER(minor),
    MEMBER(multiProcessorCount),
    MEMBER(l2CacheSize),
    MEMBER(maxThreadsPerMultiProcessor),
    MEMBER(computeMode),
    MEMBER(clockInstructionRate),
    MEMBER(arch),
    MEMBER(concurrentKernels),
    MEMBER(pciDomainID),
    MEMBER(pciBusID),
    MEMBER(pciDeviceID),
    MEMBER(maxSharedMemoryPerMultiProcessor),
    MEMBER(isMultiGpuBoard),
    MEMBER(canMapHostMemory),
    MEMBER(gcnArchName),
    MEMBER(integrated),
    MEMBER(cooperativeLaunch),
    MEMBER(cooperativeMultiDeviceLaunch),
    MEMBER(maxTexture1DLinear),
    MEMBER(maxTexture1D),
    MEMBER(maxTexture2D),
    MEMBER(maxTexture3D),
    MEMBER(hdpMemFlushCntl),
    MEMBER(hdpRegFlushCntl),
    MEMBER(memPitch),
    MEMBER(textureAlignment),
    MEMBER(texturePitchAlignment),
    MEMBER(kernelExecTimeoutEnabled),
    MEMBER(ECCEnabled),
    MEMBER(tccDriver),
    MEMBER(cooperativeMultiDeviceUnmatchedFunc),
    MEMBER(cooperativeMultiDeviceUnmatchedGridDim),
    MEMBER(cooperativeMultiDeviceUnmatchedBlockDim),
    MEMBER(cooperativeMultiDeviceUnmatchedSharedMem),
    MEMBER(isLargeBar),
    MEMBER(asicRevision),
    MEMBER(managedMemory),
    MEMBER(directManagedMemAccessFromHost),
    MEMBER(concurrentManagedAccess),
    MEMBER(pageableMemoryAccess),
    MEMBER(pageableMemoryAccessUsesHostPageTables),
#if HIP_VERSION_MAJOR < 6
    MEMBER(gcnArch),
#endif
};

TEST(DevicePropertiesVendor, HeaderAndTableAgree) {
  const Layout& layout = layout_of_header();
  EXPECT_EQ(layout.size, sizeof(hipDeviceProp_t));
  for (const Member& member : kMembers) {
    const PropertyField* field = layout.find(member.name);
    ASSERT_NE(field, nullptr) << member.name;
    EXPECT_EQ(field->offset, member.offset) << member.name;
    EXPECT_EQ(field->size, member.size) << member.name;
  }
  if (HIP_VERSION_MAJOR < 6) {
    EXPECT_EQ(std::size(kMembers), layout.fields.size());
  }
}

template <class Set>
std::string decoded_arch(Set set) {
  hipDeviceProp_t prop{};
  set(prop.arch);
  std::string on;
  for (const Property& p : decode(layout_of_header(), std::as_bytes(std::span(&prop, 1)))) {
    if (p.name.starts_with("arch.") && p.value == "1") on += p.name + " ";
  }
  return on;
}

TEST(DevicePropertiesVendor, CompilerPutsTheBitsWhereTheTableSays) {
  EXPECT_EQ(decoded_arch([](hipDeviceArch_t& a) { a.hasDoubles = 1; }), "arch.hasDoubles ");
  EXPECT_EQ(decoded_arch([](hipDeviceArch_t& a) { a.hasGlobalInt32Atomics = 1; }), "arch.hasGlobalInt32Atomics ");
  EXPECT_EQ(decoded_arch([](hipDeviceArch_t& a) { a.hasSurfaceFuncs = 1; }), "arch.hasSurfaceFuncs ");
  EXPECT_EQ(decoded_arch([](hipDeviceArch_t& a) { a.hasDynamicParallelism = 1; }), "arch.hasDynamicParallelism ");
}
#else
TEST(DevicePropertiesVendor, HeaderAndTableAgree) { GTEST_SKIP() << "no HIP headers here (Debian: libamdhip64-dev)"; }
#endif

}  // namespace
}  // namespace fade::probes
