#include "probes/overrides/attributes.hpp"

#include <algorithm>

namespace fade::probes {
namespace {

using enum DeviceAttribute::Form;

// Attributes of whole arrays (MaxThreadsDim, MaxSurface2D ...) have no field. AMD's runtime refuses them, so the
// element that would be the answer is unknown.
constexpr DeviceAttribute kHipAttributes[] = {
    {0, "EccEnabled", "ECCEnabled"},
    {1, "AccessPolicyMaxWindowSize", "accessPolicyMaxWindowSize"},
    {2, "AsyncEngineCount", "asyncEngineCount"},
    {3, "CanMapHostMemory", "canMapHostMemory"},
    {4, "CanUseHostPointerForRegisteredMem", "canUseHostPointerForRegisteredMem"},
    {5, "ClockRate", "clockRate"},
    {6, "ComputeMode", "computeMode"},
    {7, "ComputePreemptionSupported", "computePreemptionSupported"},
    {8, "ConcurrentKernels", "concurrentKernels"},
    {9, "ConcurrentManagedAccess", "concurrentManagedAccess"},
    {10, "CooperativeLaunch", "cooperativeLaunch"},
    {11, "CooperativeMultiDeviceLaunch", "cooperativeMultiDeviceLaunch"},
    {12, "DeviceOverlap", "deviceOverlap"},
    {13, "DirectManagedMemAccessFromHost", "directManagedMemAccessFromHost"},
    {14, "GlobalL1CacheSupported", "globalL1CacheSupported"},
    {15, "HostNativeAtomicSupported", "hostNativeAtomicSupported"},
    {16, "Integrated", "integrated"},
    {17, "IsMultiGpuBoard", "isMultiGpuBoard"},
    {18, "KernelExecTimeout", "kernelExecTimeoutEnabled"},
    {19, "L2CacheSize", "l2CacheSize"},
    {20, "LocalL1CacheSupported", "localL1CacheSupported"},
    {21, "Luid", "luid", 0, NoInt},
    {22, "LuidDeviceNodeMask", "luidDeviceNodeMask"},
    {23, "ComputeCapabilityMajor", "major"},
    {24, "ManagedMemory", "managedMemory"},
    {25, "MaxBlocksPerMultiProcessor", "maxBlocksPerMultiProcessor"},
    {26, "MaxBlockDimX", "maxThreadsDim", 0},
    {27, "MaxBlockDimY", "maxThreadsDim", 1},
    {28, "MaxBlockDimZ", "maxThreadsDim", 2},
    {29, "MaxGridDimX", "maxGridSize", 0},
    {30, "MaxGridDimY", "maxGridSize", 1},
    {31, "MaxGridDimZ", "maxGridSize", 2},
    {32, "MaxSurface1D", "maxSurface1D"},
    {33, "MaxSurface1DLayered"},
    {34, "MaxSurface2D"},
    {35, "MaxSurface2DLayered"},
    {36, "MaxSurface3D"},
    {37, "MaxSurfaceCubemap", "maxSurfaceCubemap"},
    {38, "MaxSurfaceCubemapLayered"},
    {39, "MaxTexture1DWidth", "maxTexture1D"},
    {40, "MaxTexture1DLayered"},
    {41, "MaxTexture1DLinear", "maxTexture1DLinear"},
    {42, "MaxTexture1DMipmap", "maxTexture1DMipmap"},
    {43, "MaxTexture2DWidth", "maxTexture2D", 0},
    {44, "MaxTexture2DHeight", "maxTexture2D", 1},
    {45, "MaxTexture2DGather"},
    {46, "MaxTexture2DLayered"},
    {47, "MaxTexture2DLinear"},
    {48, "MaxTexture2DMipmap"},
    {49, "MaxTexture3DWidth", "maxTexture3D", 0},
    {50, "MaxTexture3DHeight", "maxTexture3D", 1},
    {51, "MaxTexture3DDepth", "maxTexture3D", 2},
    {52, "MaxTexture3DAlt"},
    {53, "MaxTextureCubemap", "maxTextureCubemap"},
    {54, "MaxTextureCubemapLayered"},
    {55, "MaxThreadsDim"},
    {56, "MaxThreadsPerBlock", "maxThreadsPerBlock"},
    {57, "MaxThreadsPerMultiProcessor", "maxThreadsPerMultiProcessor"},
    {58, "MaxPitch", "memPitch"},
    {59, "MemoryBusWidth", "memoryBusWidth"},
    {60, "MemoryClockRate", "memoryClockRate"},
    {61, "ComputeCapabilityMinor", "minor"},
    {62, "MultiGpuBoardGroupID", "multiGpuBoardGroupID"},
    {63, "MultiprocessorCount", "multiProcessorCount"},
    {64, "Name", "name", 0, NoInt},  // this name until 5.7 only, also of 86, 10001, 10003 and 10004
    {65, "PageableMemoryAccess", "pageableMemoryAccess"},
    {66, "PageableMemoryAccessUsesHostPageTables", "pageableMemoryAccessUsesHostPageTables"},
    {67, "PciBusId", "pciBusID"},
    {68, "PciDeviceId", "pciDeviceID"},
    {69, "PciDomainID", "pciDomainID"},
    {69, "PciDomainId", "pciDomainID"},  // spelled so from 7.2 on
    {70, "PersistingL2CacheMaxSize", "persistingL2CacheMaxSize"},
    {71, "MaxRegistersPerBlock", "regsPerBlock"},
    {72, "MaxRegistersPerMultiprocessor", "regsPerMultiprocessor"},
    {73, "ReservedSharedMemPerBlock", "reservedSharedMemPerBlock"},
    {74, "MaxSharedMemoryPerBlock", "sharedMemPerBlock"},
    {75, "SharedMemPerBlockOptin", "sharedMemPerBlockOptin"},
    {76, "SharedMemPerMultiprocessor", "sharedMemPerMultiprocessor"},
    {77, "SingleToDoublePrecisionPerfRatio", "singleToDoublePrecisionPerfRatio"},
    {78, "StreamPrioritiesSupported", "streamPrioritiesSupported"},
    {79, "SurfaceAlignment", "surfaceAlignment"},
    {80, "TccDriver", "tccDriver"},
    {81, "TextureAlignment", "textureAlignment"},
    {82, "TexturePitchAlignment", "texturePitchAlignment"},
    {83, "TotalConstantMemory", "totalConstMem"},
    {84, "TotalGlobalMem", "totalGlobalMem"},
    {85, "UnifiedAddressing", "unifiedAddressing"},
    {86, "Uuid", "uuid", 0, NoInt},
    {87, "WarpSize", "warpSize"},
    {88, "MemoryPoolsSupported", "memoryPoolsSupported"},
    {89, "VirtualMemoryManagementSupported"},
    {90, "HostRegisterSupported", "hostRegisterSupported"},
    {91, "MemoryPoolSupportedHandleTypes", "memoryPoolSupportedHandleTypes"},
    {92, "HostNumaId"},
    {10000, "ClockInstructionRate", "clockInstructionRate"},
    {10001, "Arch", "arch", 0, NoInt},
    {10002, "MaxSharedMemoryPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"},
    {10003, "GcnArch", "gcnArch"},
    {10004, "GcnArchName", "gcnArchName", 0, NoInt},
    {10005, "HdpMemFlushCntl", "hdpMemFlushCntl", 0, Pointer},
    {10006, "HdpRegFlushCntl", "hdpRegFlushCntl", 0, Pointer},
    {10007, "CooperativeMultiDeviceUnmatchedFunc", "cooperativeMultiDeviceUnmatchedFunc"},
    {10008, "CooperativeMultiDeviceUnmatchedGridDim", "cooperativeMultiDeviceUnmatchedGridDim"},
    {10009, "CooperativeMultiDeviceUnmatchedBlockDim", "cooperativeMultiDeviceUnmatchedBlockDim"},
    {10010, "CooperativeMultiDeviceUnmatchedSharedMem", "cooperativeMultiDeviceUnmatchedSharedMem"},
    {10011, "IsLargeBar", "isLargeBar"},
    {10012, "AsicRevision", "asicRevision"},
    {10013, "CanUseStreamWaitValue"},
    {10014, "ImageSupport"},
    {10015, "PhysicalMultiProcessorCount"},  // a fact of its own: an override of multiProcessorCount does not change it
    {10016, "FineGrainSupport"},
    {10017, "WallClockRate"},
    {10018, "NumberOfXccs"},
    {10019, "MaxAvailableVgprsPerThread"},
    {10020, "PciChipId"},
};

constexpr std::string_view kPrefix = "hipDeviceAttribute";

}  // namespace

std::span<const DeviceAttribute> device_attributes() { return kHipAttributes; }

const DeviceAttribute* attribute_numbered(int number) {
  const auto* found = std::lower_bound(std::begin(kHipAttributes), std::end(kHipAttributes), number,
                                       [](const DeviceAttribute& a, int wanted) { return a.number < wanted; });
  return found != std::end(kHipAttributes) && found->number == number ? found : nullptr;
}

const DeviceAttribute* attribute_named(std::string_view name) {
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto* found = std::find_if(std::begin(kHipAttributes), std::end(kHipAttributes),
                                   [&](const DeviceAttribute& a) { return a.name == name; });
  return found != std::end(kHipAttributes) ? found : nullptr;
}

}  // namespace fade::probes
