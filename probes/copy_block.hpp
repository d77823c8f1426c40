// Copies that are described by a block of parameters in memory: hip_Memcpy2D, HIP_MEMCPY3D, hipMemcpy3DParms.
#pragma once
#include <cstdint>
#include <optional>

#include "probes/arguments.hpp"

namespace fade::probes {

enum class Side : std::uint8_t { Unknown, Host, Device };

struct CopyBlock {
  Side source_side = Side::Unknown, destination_side = Side::Unknown;  // as the block says; Unknown: the addresses tell
  std::uint64_t source = 0, destination = 0;                           // addresses, or handles of arrays
  std::optional<std::uint64_t> bytes;                                  // nothing where the product overflows

  // hipMemcpyKind; 4 (default) where a side is unknown.
  int kind() const;
};

// Nothing where the call has no such block, or the block could not be read. `major`: of the HIP library; the blocks and the
// numbers of hipMemoryType changed with HIP 6.
std::optional<CopyBlock> copy_block(const Probe& probe, const CallRecord& record, Payload payload, int major);

}  // namespace fade::probes
