// The two hash tables by which a dynamic linker finds a symbol by name: DT_GNU_HASH and the older DT_HASH, walked in
// foreign memory with as few reads as possible. Knows symbol indexes only, not the symbols.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/remote.hpp"

namespace fade::elf {

inline constexpr std::uint64_t kMaxSymbols = 1'000'000;

// Symbols [first, first + count) of the dynamic symbol table may be defined in this module.
struct SymbolRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// True if the symbol at this index is the wanted one; the search then ends.
using SymbolMatch = std::function<bool(std::uint32_t index)>;

class SymbolHash {
 public:
  // Reads the table's header. Returns nullopt if the header cannot be read or makes no sense.
  static std::optional<SymbolHash> gnu(const Memory& memory, RemoteAddr table);
  static std::optional<SymbolHash> sysv(const Memory& memory, RemoteAddr table);

  // Calls `match` for each index whose hash fits `name` (DT_HASH: whose bucket fits).
  void find(const Memory& memory, std::string_view name, const SymbolMatch& match) const;
  // Costs about two reads: of the buckets and of the last chain.
  SymbolRange range(const Memory& memory) const;

 private:
  void find_gnu(const Memory& memory, std::string_view name, const SymbolMatch& match) const;
  void find_sysv(const Memory& memory, std::string_view name, const SymbolMatch& match) const;
  std::uint32_t end_of_chain(const Memory& memory, std::uint32_t index) const;

  bool is_gnu_ = false;
  std::uint32_t buckets_ = 0;
  std::uint32_t symbols_ = 0;       // DT_HASH: number of symbols
  std::uint32_t first_symbol_ = 0;  // DT_GNU_HASH: index of the first hashed one
  std::uint32_t bloom_words_ = 0;
  std::uint32_t bloom_shift_ = 0;
  RemoteAddr bloom_at_, buckets_at_, chains_at_;
};

}  // namespace fade::elf
