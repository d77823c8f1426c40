// The kernels of AMD's code objects. A code object is an ELF file for one GPU, with a note (NT_AMDGPU_METADATA) in
// MessagePack, and a descriptor for each kernel. elf/code_image.hpp finds code objects. Nothing that is read is
// trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/kernel_descriptors.hpp"

namespace fade::elf {

// The values as the compiler wrote them; values that it did not write are empty.
struct KernelCode {
  using Number = std::optional<std::int64_t>;
  std::string name;                 // mangled, as in hipModuleGetFunction
  Number vgprs, agprs, sgprs;       // registers: of a work-item, accumulators of one, of a wave
  Number vgpr_spills, sgpr_spills;  // spilled registers
  Number lds, scratch, kernarg;     // bytes: of a work-group without the dynamic part, of a work-item, of the arguments
  Number wave_size, max_threads;    // work-items of a wave; most of a work-group
  Number wgp_mode;                  // 1: a work-group may use both compute units of a work-group processor
  Number dynamic_stack;             // 1: scratch is not known beforehand
  bool operator==(const KernelCode&) const = default;
};

// gfx90a of hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-
std::string arch_of(std::string_view target);

struct CodeMetadata {
  std::string arch;  // gfx1100; empty if the note has no target
  std::vector<KernelCode> kernels;
};
// The note's content. If the note is damaged: the part before the damage.
CodeMetadata decode_metadata(std::span<const std::byte> note);

struct CodeObject {
  std::string arch;                 // of the bundle's entry; empty if the image is not a bundle
  std::vector<std::byte> metadata;  // the note's content
  std::string problem;              // the reason if there is no metadata
  std::vector<KernelMode> modes;    // from the descriptors that the hardware reads
};

// The facts about an object's kernels: the note, and the descriptors if the note lacks a value.
CodeMetadata describe(const CodeObject& object);
// Packs objects into the bytes that are stored with a call.
std::vector<std::byte> pack(const std::vector<CodeObject>& objects);
std::vector<CodeObject> unpack(std::span<const std::byte> bytes);

}  // namespace fade::elf
