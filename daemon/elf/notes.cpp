#include "elf/notes.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace fade::elf {
namespace {

bool is_owner(std::span<const std::byte> name, std::string_view owner) {
  return name.size() == owner.size() + 1 && name.back() == std::byte{0} &&
         std::memcmp(name.data(), owner.data(), owner.size()) == 0;
}

}  // namespace

// {sizes of name and content, type}, name, content; name and content are padded.
std::optional<std::span<const std::byte>> find_note(std::span<const std::byte> notes, std::uint64_t align,
                                                    std::string_view owner, std::uint32_t type) {
  const auto padded = [align](std::uint64_t size) { return (size + align - 1) / align * align; };
  Elf64_Nhdr header;
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::uint64_t name = padded(header.n_namesz);
    if (name > notes.size() || header.n_descsz > notes.size() - name) return std::nullopt;
    if (header.n_type == type && is_owner(notes.first(header.n_namesz), owner))
      return notes.subspan(name, header.n_descsz);
    notes = notes.subspan(std::min<std::uint64_t>(notes.size(), name + padded(header.n_descsz)));
  }
  return std::nullopt;
}

}  // namespace fade::elf
