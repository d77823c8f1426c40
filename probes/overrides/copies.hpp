// Copies of device properties that a program keeps in its memory: their forms, and how their bytes are recognised. Pure
// data and functions.
//
// Compilers place such a structure at a multiple of 4 bytes. So a search looks at aligned words alone: each form has a
// word, its anchor, whose value is known and rare.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probes/overrides/spec.hpp"

namespace fade::probes {

struct CopyForm {
  std::string_view name;     // hipDeviceProp_tR0600
  std::string_view symbol;   // a function that answers with it
  std::uint32_t size = 0;    // bytes
  std::uint32_t anchor = 0;  // bytes from its begin
};
std::span<const CopyForm> copy_forms();
// The form of a function's answer; nullptr: it gives no whole structure.
const CopyForm* copy_form_of(std::string_view symbol);

// Facts by which one device is told from another. CUdevprop has none of them.
struct CopyTold {
  std::string name, arch;
  std::optional<PciSlot> slot;
};
// nullopt: these bytes are no properties of a device as AMD's runtime or ZLUDA writes them.
std::optional<CopyTold> told_by_copy(const CopyForm& form, std::span<const std::byte> bytes);

// Calls `found` for each anchor in `block`, with the offset of the anchor. The block begins at a multiple of 4 bytes.
void for_each_anchor(std::span<const std::byte> block, const std::function<void(const CopyForm&, std::size_t)>& found);

}  // namespace fade::probes
