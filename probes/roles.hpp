// The meaning of a parameter, or of a structure's field, for the memory ledger, the launch table and so on.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fade::probes {

enum class Role : std::uint8_t {
  None,
  Bytes,
  Width,
  Height,
  Depth,
  Address,
  Destination,
  Source,
  CopyKind,
  Stream,
  Kernel,
  KernelName,
  Module,
  Grid,
  Block,
  GridX,
  GridY,
  GridZ,
  BlockX,
  BlockY,
  BlockZ,
  SharedBytes,
  Device,
  Count,
  Flags,
  Value,
  Attribute,
  Table,
  TableId,
  RangeName,
  RangeId,
  RangeDomain,
  ChannelBits,
  Format,
  Channels,
  Levels,
  Object,
  Pitch,
};
inline constexpr std::size_t kRoleCount = static_cast<std::size_t>(Role::Pitch) + 1;

}  // namespace fade::probes
