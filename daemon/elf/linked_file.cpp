#include "elf/linked_file.hpp"

#include <elf.h>

#include <cstring>
#include <span>
#include <string_view>

#include "elf/elf_file.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMostTags = 4096, kMostNeeded = 512, kLongestName = 4096;

std::string text_in(std::span<const std::byte> strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return {begin, ::strnlen(begin, std::min<std::size_t>(kLongestName, strings.size() - offset))};
}

void take(const Elf64_Dyn& tag, std::span<const std::byte> strings, LinkedFile& to) {
  const std::uint64_t value = tag.d_un.d_val;
  if (tag.d_tag == DT_SONAME) to.soname = text_in(strings, value);
  if (tag.d_tag == DT_RPATH) to.links.rpath = text_in(strings, value);
  if (tag.d_tag == DT_RUNPATH) to.links.runpath = text_in(strings, value);
  if (tag.d_tag == DT_NEEDED && to.links.needed.size() < kMostNeeded)
    to.links.needed.push_back(text_in(strings, value));
}

}  // namespace

Result<LinkedFile> read_linked_file(const std::string& path, const std::string& shown) {
  const auto file = ElfFile::open(path);
  if (!file) return tl::unexpected(file.error());
  LinkedFile out;
  out.links.path = shown.empty() ? path : shown;
  const Section *dynamic = file->section(".dynamic"), *names = file->section(".dynstr");
  if (!dynamic || !names) return out;
  const auto tags = file->bytes(*dynamic), strings = file->bytes(*names);
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= tags.size() && at < kMostTags * sizeof(Elf64_Dyn);
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn tag;
    std::memcpy(&tag, tags.data() + at, sizeof tag);
    if (tag.d_tag == DT_NULL) break;
    take(tag, strings, out);
  }
  return out;
}

}  // namespace fade::elf
