// Kernels that were launched with other grids or blocks on the one side than on the other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/ab/figures.hpp"

namespace fade::cli::ab {

struct KernelChange {
  std::string kernel;
  std::string without, with;   // "36x1x1, block 64x1x1 (100 launches a run)", the most frequent first; "not launched"
  std::uint64_t launches = 0;  // of both sides
};

// Most launched first. Grids are compared as sets over all runs of a side: how often each was launched may vary.
std::vector<KernelChange> kernel_changes(const std::vector<const Figures*>& without,
                                         const std::vector<const Figures*>& with);

std::uint64_t number_of_kernels(const std::vector<const Figures*>& without, const std::vector<const Figures*>& with);

}  // namespace fade::cli::ab
