// The folders of GPU libraries and of Python's packages, for the checks of programs and libraries.
#pragma once
#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "elf/library_search.hpp"

namespace fade::doctor {

elf::LibrarySearch library_search(const Examined& x);

// The program that the kernel would execute: for a script, its interpreter. Without the root. Empty: unknown.
std::string executed(const Examined& x);

struct Copy {
  std::string path, real_path;  // as found, and behind symbolic links
  std::string soname, version;  // version: of the real file's name; may be empty
};
// Copies of libamdhip64, each once: in LD_LIBRARY_PATH, the loader's folders, /opt/rocm*, ROCM_PATH, HIP_PATH, and in
// packages of the program's Python.
std::vector<Copy> hip_copies_on(const Examined& x, const elf::LibrarySearch& search);

// The folders of PyTorch that the program's Python would import from; empty if the program is no Python.
std::vector<std::string> torch_folders(const Examined& x);

// Names in a folder below the root that match the pattern, sorted. Empty if it cannot be read.
std::vector<std::string> names_in(const std::string& folder, const std::string& pattern);

// Libraries of ROCm or CUDA.
bool is_of_gpu_stack(const std::string& name, const std::string& path);
// "system" is the loader's cache and its usual folders.
std::string rule_words(elf::FoundBy rule);

std::string version_of(const elf::LibrarySearch& search, const std::string& path);

}  // namespace fade::doctor
