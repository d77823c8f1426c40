#include "elf/kernel_descriptors.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace fade::elf {
namespace {

constexpr std::size_t kMostHeaders = 64, kMostKernels = 20'000;
constexpr std::uint64_t kDescriptorSize = 64, kResource1 = 48;  // COMPUTE_PGM_RSRC1
constexpr std::uint32_t kWgpMode = 1u << 29;
constexpr std::string_view kSuffix = ".kd";

template <class T>
std::vector<T> read_table(const Memory& memory, RemoteAddr at, std::size_t count) {
  std::vector<T> out(count);
  const std::size_t got = memory.read(at, std::as_writable_bytes(std::span(out)));
  out.resize(got / sizeof(T));
  return out;
}

struct Symbols {
  std::vector<Elf64_Sym> entries;
  std::vector<char> names;
};

Symbols read_symbols(const Memory& memory, RemoteAddr image, const Elf64_Ehdr& header, std::size_t most_bytes) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  const auto sections =
      read_table<Elf64_Shdr>(memory, image + header.e_shoff, std::min<std::size_t>(header.e_shnum, kMostHeaders));
  const auto table = std::ranges::find(sections, std::uint32_t{SHT_DYNSYM}, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const Elf64_Shdr& names = sections[table->sh_link];
  if (table->sh_size > most_bytes || names.sh_size > most_bytes) return {};
  return {read_table<Elf64_Sym>(memory, image + table->sh_offset, table->sh_size / sizeof(Elf64_Sym)),
          read_table<char>(memory, image + names.sh_offset, names.sh_size)};
}

// NAME of NAME.kd; empty if the symbol is not a descriptor.
std::string_view kernel_of(const Elf64_Sym& symbol, const std::vector<char>& names) {
  if (symbol.st_size != kDescriptorSize || symbol.st_name >= names.size()) return {};
  const std::size_t most = names.size() - symbol.st_name;
  const std::string_view name(names.data() + symbol.st_name, ::strnlen(names.data() + symbol.st_name, most));
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : std::string_view();
}

// The offset in the file of an address of the loaded code object.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

}  // namespace

std::vector<KernelMode> read_kernel_modes(const Memory& memory, RemoteAddr image, const Elf64_Ehdr& header,
                                          std::size_t most_bytes) {
  std::vector<KernelMode> out;
  const Symbols symbols = read_symbols(memory, image, header, most_bytes);
  if (symbols.entries.empty()) return out;
  const auto segments =
      read_table<Elf64_Phdr>(memory, image + header.e_phoff, std::min<std::size_t>(header.e_phnum, kMostHeaders));
  for (const Elf64_Sym& symbol : symbols.entries) {
    const std::string_view name = kernel_of(symbol, symbols.names);
    const auto offset = name.empty() ? std::nullopt : file_offset(segments, symbol.st_value);
    const auto resource = offset ? memory.value<std::uint32_t>(image + *offset + kResource1) : std::nullopt;
    if (resource && out.size() < kMostKernels) out.push_back({std::string(name), (*resource & kWgpMode) != 0});
  }
  return out;
}

}  // namespace fade::elf
