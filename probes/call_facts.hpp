// What a recorded call did, in the terms of the tables of launches, copies and allocations.
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

// From dim3s, from single numbers or from a configuration structure, whichever the prototype has. A grid in work-items
// is divided by the block, rounded up. Nothing where the call names no grid (hipLaunchByPtr).
std::optional<LaunchShape> launch_shape(const Probe& probe, const CallRecord& record, Payload payload);

// One kernel that a call puts to run or into a graph.
struct KernelUse {
  std::uint64_t kernel = 0;  // its handle
  std::optional<LaunchShape> shape;
  std::optional<std::uint64_t> stream;
};
// One, or one of each element where the call takes a list (multi-device launches); none where it names no kernel, which
// includes a hipGraphNodeParams of another kind of node.
std::vector<KernelUse> kernels_used(const Probe& probe, const CallRecord& record, Payload payload);

// Bytes that a copy, fill or allocation is about: @bytes, else @count elements of the @value's size, else @width (of an
// allocation that succeeded the @pitch it was given); times
// @height and @depth. Of an allocation that says what an element is (@channel_bits, or @format and @channels): so many elements,
// over all @levels. Nothing where it does not say or the product overflows.
std::optional<std::uint64_t> byte_count(const Probe& probe, const CallRecord& record, Payload payload);

// The hipMemcpyKind of a copy: its @copy_kind, else what its name says (hipMemcpyHtoD: 1, ...Peer: 3).
std::optional<int> copy_kind(const Probe& probe, const CallRecord& record, Payload payload);

}  // namespace fade::probes
