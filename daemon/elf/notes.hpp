// The notes of an ELF object (PT_NOTE). Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fade::elf {

// The content of the first note with that owner (without its zero) and type. `align`: 4, or 8 if the segment says so.
// nullopt: there is none, or a note before it is cut off.
std::optional<std::span<const std::byte>> find_note(std::span<const std::byte> notes, std::uint64_t align,
                                                    std::string_view owner, std::uint32_t type);

}  // namespace fade::elf
