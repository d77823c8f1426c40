// What AMD's code objects say about their kernels. A code object is an ELF file for one GPU, with a note (NT_AMDGPU_METADATA) in
// MessagePack, and a descriptor for each kernel. Where they are found is elf/code_image.hpp's. Nothing that is read is trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/kernel_descriptors.hpp"

namespace fade::elf {

// As the compiler wrote it; what it did not write is not there.
struct KernelCode {
  using Number = std::optional<std::int64_t>;
  std::string name;                             // mangled, as in hipModuleGetFunction
  Number vgprs, agprs, sgprs;                   // registers: of a work-item, accumulators of one, of a wave
  Number vgpr_spills, sgpr_spills;              // that did not fit
  Number lds, scratch, kernarg;                 // bytes: of a work-group without the dynamic part, of a work-item, of the arguments
  Number wave_size, max_threads;                // work-items of a wave; most of a work-group
  Number wgp_mode;                              // 1: a work-group may use both compute units of a work-group processor
  Number dynamic_stack;                         // 1: scratch is not known beforehand
  bool operator==(const KernelCode&) const = default;
};

// gfx90a of hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-
std::string arch_of(std::string_view target);

struct CodeMetadata {
  std::string arch;  // gfx1100; empty where it does not say
  std::vector<KernelCode> kernels;
};
// The note's content. Where it is damaged, what came before the damage.
CodeMetadata decode_metadata(std::span<const std::byte> note);

struct CodeObject {
  std::string arch;                   // of the bundle's entry; empty where the image is no bundle
  std::vector<std::byte> metadata;    // the note's content
  std::string problem;                // why there is none
  std::vector<KernelMode> modes;      // as the hardware is told
};

// What is known of an object's kernels: the note, and what the descriptors say where the note does not.
CodeMetadata describe(const CodeObject& object);
// As bytes that travel with a call, and back.
std::vector<std::byte> pack(const std::vector<CodeObject>& objects);
std::vector<CodeObject> unpack(std::span<const std::byte> bytes);

}  // namespace fade::elf
