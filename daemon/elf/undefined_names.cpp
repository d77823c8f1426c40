#include "elf/undefined_names.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

namespace fade::elf {
namespace {

constexpr std::size_t kMostNames = 1'000'000, kLongestSymbol = 4096;

}  // namespace

std::vector<std::string> undefined_names(const ElfFile& file) {
  const Section *symbols = file.section(".dynsym"), *strings = file.section(".dynstr");
  if (!symbols || !strings) return {};
  const auto rows = file.bytes(*symbols), text = file.bytes(*strings);
  std::set<std::string> out;
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= rows.size() && out.size() < kMostNames; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, rows.data() + at, sizeof symbol);
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= text.size()) continue;
    const char* name = reinterpret_cast<const char*>(text.data()) + symbol.st_name;
    out.emplace(name, ::strnlen(name, std::min<std::size_t>(kLongestSymbol, text.size() - symbol.st_name)));
  }
  return {out.begin(), out.end()};
}

}  // namespace fade::elf
