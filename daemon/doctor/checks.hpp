// The functions of the table, by subject.
#pragma once
#include "doctor/check.hpp"

namespace fade::doctor {

// versions.cpp
Answers fade_version(const Examined&);
Answers kernel_version(const Examined&);
Answers rocm_version(const Examined&);

// tracing.cpp
Answers tracing(const Examined&);
Answers yama(const Examined&);
Answers capability(const Examined&);
Answers seccomp(const Examined&);
Answers security_module(const Examined&);
Answers container(const Examined&);
Answers attaching(const Examined&);  // the rules of fade-attach --check
Answers tap_clock(const Examined&);

// program.cpp
Answers program_file(const Examined&);
Answers program_libraries(const Examined&);

// gpu.cpp
Answers gpu_driver(const Examined&);
Answers kfd_node(const Examined&);
Answers render_nodes(const Examined&);
Answers topology(const Examined&);

// libraries.cpp
Answers hip_copies(const Examined&);
Answers hip_of_program(const Examined&);
Answers hip_of_process(const Examined&);
Answers zluda(const Examined&);

// python.cpp
Answers torch_build(const Examined&);
Answers torch_targets(const Examined&);
Answers torch_libraries(const Examined&);

// variables.cpp
Answers build_variables(const Examined&);
Answers visible_devices(const Examined&);
Answers other_variables(const Examined&);

// memory.cpp
Answers free_memory(const Examined&);
Answers group_limit(const Examined&);
Answers address_space_limit(const Examined&);
Answers shared_memory(const Examined&);
Answers disk(const Examined&);

}  // namespace fade::doctor
