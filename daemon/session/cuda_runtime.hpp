// Tests if a module has NVIDIA's CUDA runtime linked into it. nvcc links it in unless told otherwise (-cudart static);
// then the program's cuda... calls pass no library that could be watched. The sign: a file with CUDA kernels (a section
// .nv_fatbin) must register them, with a function of the runtime. A file that does not import that function has the
// runtime inside. A file without kernels of its own, or without section headers, shows nothing.
#pragma once
#include "base/pid.hpp"
#include "elf/maps.hpp"
#include "session/program.hpp"

namespace fade {

// Reads the file that is mapped: for programs that have loaded CUDA's driver API only, once for each module.
bool has_cuda_runtime_inside(Pid pid, const elf::Maps& maps, const Module& module, const ProcFiles& proc = ProcFiles());

}  // namespace fade
