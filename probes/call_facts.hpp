// The effect of a recorded call, in the terms of the tables of launches, copies and allocations.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "probes/arguments.hpp"

namespace fade::probes {

struct LaunchShape {
  Dim3 grid;   // in blocks
  Dim3 block;  // in threads
  std::uint64_t shared_bytes = 0;
};

// The shape from dim3s, single numbers or a configuration structure, as the prototype has them. A grid in work-items is
// divided by the block, rounded up. Empty if the call names no grid (hipLaunchByPtr).
std::optional<LaunchShape> launch_shape(const Probe& probe, const CallRecord& record, Payload payload);

// One kernel that a call launches or adds to a graph.
struct KernelUse {
  std::uint64_t kernel = 0;  // its handle
  std::optional<LaunchShape> shape;
  std::optional<std::uint64_t> stream;
};
// The kernel of a call, or one per element of a list (multi-device launches). Empty if the call names no kernel, such
// as a hipGraphNodeParams of another kind of node.
std::vector<KernelUse> kernels_used(const Probe& probe, const CallRecord& record, Payload payload);

// Bytes of a copy, fill or allocation:
// - @bytes, else @count elements of the @value's size, else @width; times @height and @depth.
// - A successful allocation with @pitch counts the pitch it was given instead of @width.
// - An allocation with @channel_bits, or @format and @channels, counts its elements over all @levels.
// Empty if the call has no such parameters or if the product overflows.
std::optional<std::uint64_t> byte_count(const Probe& probe, const CallRecord& record, Payload payload);

// The hipMemcpyKind of a copy: its @copy_kind, else the kind in its name (hipMemcpyHtoD: 1, ...Peer: 3).
std::optional<int> copy_kind(const Probe& probe, const CallRecord& record, Payload payload);

// Tests if successful calls of the function are alike for all books of a recording: their arguments and outputs matter
// only in rows of their own. Then sums of time and number are all that is kept of calls without a row.
bool is_only_summed(const Probe& probe);
// Tests if successful calls of the function with the same arguments are alike for all books (SummedWords).
bool may_be_summed(const Probe& probe);

}  // namespace fade::probes
