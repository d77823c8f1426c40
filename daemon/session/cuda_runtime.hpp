// Whether a module has NVIDIA's CUDA runtime linked into it. nvcc does so unless told otherwise (-cudart static); then the
// program's cuda... calls pass no library that could be watched. What can be told: a file with CUDA kernels (a section
// .nv_fatbin) must register them, with a function of the runtime; one that does not import that function has it inside.
// A file without kernels of its own, or without section headers, tells nothing.
#pragma once
#include <sys/types.h>

#include "elf/maps.hpp"
#include "session/program.hpp"

namespace fade {

// Reads the file that is mapped: for programs that have loaded CUDA's driver API only, once for each module.
bool has_cuda_runtime_inside(pid_t pid, const elf::Maps& maps, const Module& module);

}  // namespace fade
