// Copies that a block of parameters in memory describes: hip_Memcpy2D, HIP_MEMCPY3D, hipMemcpy3DParms.
#pragma once
#include <cstdint>
#include <optional>

#include "probes/arguments.hpp"

namespace fade::probes {

enum class Side : std::uint8_t { Unknown, Host, Device };

struct CopyBlock {
  Side source_side = Side::Unknown, destination_side = Side::Unknown;  // as in the block; Unknown: see the addresses
  std::uint64_t source = 0, destination = 0;                           // addresses, or handles of arrays
  std::optional<std::uint64_t> bytes;                                  // empty if the product overflows

  // hipMemcpyKind; 4 (default) if a side is unknown.
  int kind() const;
};

// Empty if the call has no block, or if the block could not be read. `major` is the version of the HIP library: HIP 6
// changed the blocks and the numbers of hipMemoryType.
std::optional<CopyBlock> copy_block(const Probe& probe, const CallRecord& record, Payload payload, int major);

}  // namespace fade::probes
