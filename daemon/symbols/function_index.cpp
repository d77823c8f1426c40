#include "symbols/function_index.hpp"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

namespace fade::symbols {
namespace {

constexpr std::uint64_t kMostTableBytes = 96u << 20;  // four million symbols
constexpr std::uint64_t kMostStringBytes = 512u << 20;
constexpr std::size_t kMostTables = 8;
constexpr std::size_t kMostName = 4096;
constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 47;
constexpr int kMostNested = 64;  // functions that begin after the covering one and end before the address

const elf::Section* strings_of(const elf::ElfFile& file, const elf::Section& table) {
  Elf_Scn* scn = ::elf_getscn(file.handle(), table.index);
  GElf_Shdr header;
  if (!scn || !::gelf_getshdr(scn, &header)) return nullptr;
  for (const elf::Section& s : file.sections())
    if (s.index == header.sh_link && s.type == SHT_STRTAB && s.size <= kMostStringBytes) return &s;
  return nullptr;
}

bool is_function(unsigned type) { return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE; }

// Marks of the assembler (".L12", "$x") are not functions. Symbols of compilation units and sections are not functions
// either and have other types.
bool is_name(std::string_view name) { return !name.empty() && name[0] != '.' && name[0] != '$'; }

std::string_view name_at(std::span<const std::byte> strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const char* text = reinterpret_cast<const char*>(strings.data()) + offset;
  return {text, ::strnlen(text, std::min(kMostName, strings.size() - offset))};
}

}  // namespace

void FunctionIndex::add(const elf::ElfFile& file) {
  for (const elf::Section& s : file.sections())
    if (s.allocated && s.executable && s.size <= kMostAddress && s.address < kMostAddress)
      code_.emplace_back(s.address, s.address + s.size);
  std::sort(code_.begin(), code_.end());
  code_.erase(std::unique(code_.begin(), code_.end()), code_.end());
  for (const elf::Section& s : file.sections())
    if ((s.type == SHT_DYNSYM || s.type == SHT_SYMTAB) && s.size <= kMostTableBytes && strings_.size() < kMostTables)
      add_table(file, s);
}

void FunctionIndex::add_table(const elf::ElfFile& file, const elf::Section& table) {
  const elf::Section* names = strings_of(file, table);
  if (!names) return;
  const std::span<const std::byte> symbols = file.bytes(table), strings = file.bytes(*names);
  const auto number = static_cast<std::uint8_t>(strings_.size());
  strings_.push_back(strings);
  Elf64_Sym symbol;
  for (std::size_t at = 0; at + sizeof symbol <= symbols.size(); at += sizeof symbol) {
    std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON ||
        !is_function(type))
      continue;
    if (symbol.st_value >= kMostAddress || symbol.st_name >= strings.size()) continue;
    const auto size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, std::numeric_limits<std::uint32_t>::max()));
    const unsigned rank = (size != 0) * 4u + (type != STT_NOTYPE) * 2u + (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL);
    entries_.push_back(
        {symbol.st_value & (kMostAddress - 1), number, static_cast<std::uint8_t>(rank), size, symbol.st_name});
  }
}

void FunctionIndex::finish() {
  const auto section_of = [&](std::uint64_t address) {
    const auto after =
        std::upper_bound(code_.begin(), code_.end(), std::pair(address, std::numeric_limits<std::uint64_t>::max()));
    return after == code_.begin() || address >= std::prev(after)->second ? code_.end() : std::prev(after);
  };
  std::erase_if(entries_, [&](const Entry& e) { return section_of(e.address) == code_.end(); });
  const auto key = [](const Entry& e) {
    return std::tuple<std::uint64_t, unsigned, std::uint32_t>(e.address, e.rank, e.name);
  };
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  // beginning of the next function, for symbols without a size
  std::uint64_t next = kMostAddress, after = kMostAddress;
  for (auto e = entries_.rbegin(); e != entries_.rend(); ++e) {
    if (e->address != next) after = std::exchange(next, std::uint64_t{e->address});
    if (e->size != 0) continue;
    const std::uint64_t end = std::min(after, section_of(e->address)->second);
    e->size = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(end - e->address, std::numeric_limits<std::uint32_t>::max()));
  }
}

std::string_view FunctionIndex::at(std::uint64_t address) const {
  auto candidate = std::upper_bound(entries_.begin(), entries_.end(), address,
                                    [](std::uint64_t a, const Entry& e) { return a < e.address; });
  for (int i = 0; i < kMostNested && candidate != entries_.begin(); ++i) {
    --candidate;
    if (address - candidate->address >= candidate->size) continue;
    const std::string_view name = name_at(strings_[candidate->strings], candidate->name);
    if (is_name(name)) return name;
  }
  return {};
}

}  // namespace fade::symbols
