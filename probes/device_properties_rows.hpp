// The members of the two forms of hipDeviceProp_t, in the order of their declaration; offsets follow from the rules of
// C. R0000 is the same in ROCm 5.0-7.2, R0600 in 6.0-7.2. Only device_properties.cpp includes this file.
#pragma once
#include <cstdint>
#include <string_view>

#include "probes/device_properties.hpp"

namespace fade::probes::device_rows {

struct FieldRow {
  std::string_view name;
  FieldType type;
  std::uint32_t n = 1;  // elements; for Text and Bytes: their bytes
};

using enum FieldType;

inline constexpr FieldRow kR0000[] = {
    {"name", Text, 256}, {"totalGlobalMem", Size}, {"sharedMemPerBlock", Size}, {"regsPerBlock", Int},
    {"warpSize", Int}, {"maxThreadsPerBlock", Int}, {"maxThreadsDim", Int, 3}, {"maxGridSize", Int, 3},
    {"clockRate", Int}, {"memoryClockRate", Int}, {"memoryBusWidth", Int}, {"totalConstMem", Size}, {"major", Int},
    {"minor", Int}, {"multiProcessorCount", Int}, {"l2CacheSize", Int}, {"maxThreadsPerMultiProcessor", Int},
    {"computeMode", Int}, {"clockInstructionRate", Int}, {"arch", Bits}, {"concurrentKernels", Int},
    {"pciDomainID", Int}, {"pciBusID", Int}, {"pciDeviceID", Int}, {"maxSharedMemoryPerMultiProcessor", Size},
    {"isMultiGpuBoard", Int}, {"canMapHostMemory", Int}, {"gcnArch", Int}, {"gcnArchName", Text, 256},
    {"integrated", Int}, {"cooperativeLaunch", Int}, {"cooperativeMultiDeviceLaunch", Int},
    {"maxTexture1DLinear", Int}, {"maxTexture1D", Int}, {"maxTexture2D", Int, 2}, {"maxTexture3D", Int, 3},
    {"hdpMemFlushCntl", Pointer}, {"hdpRegFlushCntl", Pointer}, {"memPitch", Size}, {"textureAlignment", Size},
    {"texturePitchAlignment", Size}, {"kernelExecTimeoutEnabled", Int}, {"ECCEnabled", Int}, {"tccDriver", Int},
    {"cooperativeMultiDeviceUnmatchedFunc", Int}, {"cooperativeMultiDeviceUnmatchedGridDim", Int},
    {"cooperativeMultiDeviceUnmatchedBlockDim", Int}, {"cooperativeMultiDeviceUnmatchedSharedMem", Int},
    {"isLargeBar", Int}, {"asicRevision", Int}, {"managedMemory", Int}, {"directManagedMemAccessFromHost", Int},
    {"concurrentManagedAccess", Int}, {"pageableMemoryAccess", Int}, {"pageableMemoryAccessUsesHostPageTables", Int},
};
inline constexpr FieldRow kR0600[] = {
    {"name", Text, 256}, {"uuid", Bytes, 16}, {"luid", Bytes, 8}, {"luidDeviceNodeMask", Unsigned},
    {"totalGlobalMem", Size}, {"sharedMemPerBlock", Size}, {"regsPerBlock", Int}, {"warpSize", Int},
    {"memPitch", Size}, {"maxThreadsPerBlock", Int}, {"maxThreadsDim", Int, 3}, {"maxGridSize", Int, 3},
    {"clockRate", Int}, {"totalConstMem", Size}, {"major", Int}, {"minor", Int}, {"textureAlignment", Size},
    {"texturePitchAlignment", Size}, {"deviceOverlap", Int}, {"multiProcessorCount", Int},
    {"kernelExecTimeoutEnabled", Int}, {"integrated", Int}, {"canMapHostMemory", Int}, {"computeMode", Int},
    {"maxTexture1D", Int}, {"maxTexture1DMipmap", Int}, {"maxTexture1DLinear", Int}, {"maxTexture2D", Int, 2},
    {"maxTexture2DMipmap", Int, 2}, {"maxTexture2DLinear", Int, 3}, {"maxTexture2DGather", Int, 2},
    {"maxTexture3D", Int, 3}, {"maxTexture3DAlt", Int, 3}, {"maxTextureCubemap", Int},
    {"maxTexture1DLayered", Int, 2}, {"maxTexture2DLayered", Int, 3}, {"maxTextureCubemapLayered", Int, 2},
    {"maxSurface1D", Int}, {"maxSurface2D", Int, 2}, {"maxSurface3D", Int, 3}, {"maxSurface1DLayered", Int, 2},
    {"maxSurface2DLayered", Int, 3}, {"maxSurfaceCubemap", Int}, {"maxSurfaceCubemapLayered", Int, 2},
    {"surfaceAlignment", Size}, {"concurrentKernels", Int}, {"ECCEnabled", Int}, {"pciBusID", Int},
    {"pciDeviceID", Int}, {"pciDomainID", Int}, {"tccDriver", Int}, {"asyncEngineCount", Int},
    {"unifiedAddressing", Int}, {"memoryClockRate", Int}, {"memoryBusWidth", Int}, {"l2CacheSize", Int},
    {"persistingL2CacheMaxSize", Int}, {"maxThreadsPerMultiProcessor", Int}, {"streamPrioritiesSupported", Int},
    {"globalL1CacheSupported", Int}, {"localL1CacheSupported", Int}, {"sharedMemPerMultiprocessor", Size},
    {"regsPerMultiprocessor", Int}, {"managedMemory", Int}, {"isMultiGpuBoard", Int}, {"multiGpuBoardGroupID", Int},
    {"hostNativeAtomicSupported", Int}, {"singleToDoublePrecisionPerfRatio", Int}, {"pageableMemoryAccess", Int},
    {"concurrentManagedAccess", Int}, {"computePreemptionSupported", Int}, {"canUseHostPointerForRegisteredMem", Int},
    {"cooperativeLaunch", Int}, {"cooperativeMultiDeviceLaunch", Int}, {"sharedMemPerBlockOptin", Size},
    {"pageableMemoryAccessUsesHostPageTables", Int}, {"directManagedMemAccessFromHost", Int},
    {"maxBlocksPerMultiProcessor", Int}, {"accessPolicyMaxWindowSize", Int}, {"reservedSharedMemPerBlock", Size},
    {"hostRegisterSupported", Int}, {"sparseHipArraySupported", Int}, {"hostRegisterReadOnlySupported", Int},
    {"timelineSemaphoreInteropSupported", Int}, {"memoryPoolsSupported", Int}, {"gpuDirectRDMASupported", Int},
    {"gpuDirectRDMAFlushWritesOptions", Unsigned}, {"gpuDirectRDMAWritesOrdering", Int},
    {"memoryPoolSupportedHandleTypes", Unsigned}, {"deferredMappingHipArraySupported", Int},
    {"ipcEventSupported", Int}, {"clusterLaunch", Int}, {"unifiedFunctionPointers", Int}, {"reserved", Int, 63},
    {"hipReserved", Int, 32}, {"gcnArchName", Text, 256}, {"maxSharedMemoryPerMultiProcessor", Size},
    {"clockInstructionRate", Int}, {"arch", Bits}, {"hdpMemFlushCntl", Pointer}, {"hdpRegFlushCntl", Pointer},
    {"cooperativeMultiDeviceUnmatchedFunc", Int}, {"cooperativeMultiDeviceUnmatchedGridDim", Int},
    {"cooperativeMultiDeviceUnmatchedBlockDim", Int}, {"cooperativeMultiDeviceUnmatchedSharedMem", Int},
    {"isLargeBar", Int}, {"asicRevision", Int},
};

// The names of hipDeviceArch_t's bits, from bit 0 upwards.
inline constexpr std::string_view kArchBits[] = {
    "hasGlobalInt32Atomics", "hasGlobalFloatAtomicExch", "hasSharedInt32Atomics", "hasSharedFloatAtomicExch",
    "hasFloatAtomicAdd", "hasGlobalInt64Atomics", "hasSharedInt64Atomics", "hasDoubles", "hasWarpVote", "hasWarpBallot",
    "hasWarpShuffle", "hasFunnelShift", "hasThreadFenceSystem", "hasSyncThreadsExt", "hasSurfaceFuncs", "has3dGrid",
    "hasDynamicParallelism",
};

}  // namespace fade::probes::device_rows
