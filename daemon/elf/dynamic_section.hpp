// The dynamic section of an object that is mapped in another process: where its tables are, and the texts it names.
// Every address lies in the object, or is null. Nothing that is read is trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/remote.hpp"
#include "elf/symbol_hash.hpp"

namespace fade::elf {

// The addresses of an object's tables; null and empty if a table is missing.
struct DynamicTables {
  RemoteAddr symbols, strings;
  std::uint64_t strings_size = 0;
  RemoteRange jump_slots, relocations;  // Elf64_Rela
  std::uint64_t relative = 0;           // number of entries at the start of `relocations` that name no symbol
};

struct DynamicSection {
  DynamicTables tables;
  RemoteAddr versions;                  // DT_VERSYM
  RemoteAddr initializers;              // DT_INIT_ARRAY, if it is not empty; may lie anywhere
  RemoteAddr debug;                     // DT_DEBUG as written by ld.so; may lie anywhere
  std::optional<std::uint64_t> soname;  // offsets of texts
  std::optional<std::uint64_t> rpath, runpath;
  std::vector<std::uint64_t> needed;
  std::optional<SymbolHash> hash;

  static constexpr std::size_t kMaxText = 4096;

  // `at`: the section. `span`: of the whole object, which is moved by `bias`.
  static DynamicSection read(const Memory& memory, RemoteRange at, RemoteRange span, std::uint64_t bias);
  // The text at that offset of the strings; empty if there is none.
  std::string text(const Memory& memory, std::uint64_t offset) const;
};

}  // namespace fade::elf
