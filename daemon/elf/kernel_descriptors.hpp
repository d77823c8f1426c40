// The kernel descriptors of a code object: 64 bytes each, for the hardware. They give the mode of kernels whose
// compiler did not write it into the metadata (before LLVM 16 or so). Nothing that is read is trusted.
#pragma once
#include <elf.h>

#include <string>
#include <vector>

#include "base/remote.hpp"

namespace fade::elf {

struct KernelMode {
  std::string name;  // mangled
  bool wgp = false;  // meaningful from gfx10 on
  bool operator==(const KernelMode&) const = default;
};

// The modes from the ELF file at `image`, laid out as in a file and not as a loader maps it. Reads at most `most_bytes`
// of tables.
std::vector<KernelMode> read_kernel_modes(const Memory& memory, RemoteAddr image, const Elf64_Ehdr& header,
                                          std::size_t most_bytes);

}  // namespace fade::elf
