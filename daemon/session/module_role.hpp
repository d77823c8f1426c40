// The facts by which a loaded module is judged, and its role in the GPU stack. The role comes from the module's
// exports, whatever its file is called. Reads the module's memory only.
#pragma once
#include <string>

#include "elf/dynamic_image.hpp"

namespace fade {

struct ModuleFacts {
  std::string path, soname, role, version, build_id;  // version: of the file's name behind symbolic links
  int major = 0;                                      // of a HIP library
  bool wanted = false;                                // something in it is to be armed
  bool has_run = false;                               // it was loaded before fade attached
};

// hip, hiprtc, zluda, cuda, cudart, nvml, roctx or nvtx; empty: none of the GPU stack.
std::string role_of(const elf::DynamicImage& image);
// Libraries by which programs mark their own work. They say nothing about the GPU.
inline bool is_of_markers(const std::string& role) { return role == "roctx" || role == "nvtx"; }
// The major version of a HIP library, at least 5.
int library_major(const elf::DynamicImage& image, const std::string& soname);

}  // namespace fade
