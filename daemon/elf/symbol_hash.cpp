#include "elf/symbol_hash.hpp"

#include <array>

#include "elf/remote_array.hpp"

namespace fade::elf {
namespace {

constexpr std::uint32_t kMaxChainSteps = 4096;  // real chains have a handful of entries
constexpr std::uint32_t kChunk = 16;            // hashes per read: one read covers nearly every chain

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t h = 5381;
  for (const char c : name) h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    const std::uint32_t top = h & 0xf0000000u;
    h = (h ^ (top >> 24)) & ~top;
  }
  return h;
}

}  // namespace

std::optional<SymbolHash> SymbolHash::gnu(const Memory& memory, RemoteAddr table) {
  struct Header {
    std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
  };
  const auto header = memory.value<Header>(table);
  if (!header || header->buckets == 0 || header->bloom_words == 0 || header->bloom_shift >= 32) return std::nullopt;
  if (header->buckets > kMaxSymbols || header->first_symbol > kMaxSymbols || header->bloom_words > kMaxSymbols)
    return std::nullopt;
  SymbolHash out;
  out.is_gnu_ = true;
  out.buckets_ = header->buckets;
  out.first_symbol_ = header->first_symbol;
  out.bloom_words_ = header->bloom_words;
  out.bloom_shift_ = header->bloom_shift;
  out.bloom_at_ = table + sizeof(Header);
  out.buckets_at_ = out.bloom_at_ + std::uint64_t{header->bloom_words} * 8;
  out.chains_at_ = out.buckets_at_ + std::uint64_t{header->buckets} * 4;
  return out;
}

std::optional<SymbolHash> SymbolHash::sysv(const Memory& memory, RemoteAddr table) {
  struct Header {
    std::uint32_t buckets, symbols;
  };
  const auto header = memory.value<Header>(table);
  if (!header || header->buckets == 0 || header->buckets > kMaxSymbols) return std::nullopt;
  SymbolHash out;
  out.buckets_ = header->buckets;
  out.symbols_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(header->symbols, kMaxSymbols));
  out.buckets_at_ = table + sizeof(Header);
  out.chains_at_ = out.buckets_at_ + std::uint64_t{header->buckets} * 4;
  return out;
}

void SymbolHash::find(const Memory& memory, std::string_view name, const SymbolMatch& match) const {
  is_gnu_ ? find_gnu(memory, name, match) : find_sysv(memory, name, match);
}

void SymbolHash::find_gnu(const Memory& memory, std::string_view name, const SymbolMatch& match) const {
  const std::uint32_t hash = gnu_hash(name);
  const auto word = memory.value<std::uint64_t>(bloom_at_ + std::uint64_t{(hash / 64) % bloom_words_} * 8);
  const std::uint64_t wanted = (std::uint64_t{1} << hash % 64) | (std::uint64_t{1} << (hash >> bloom_shift_) % 64);
  if (!word || (*word & wanted) != wanted) return;
  const auto bucket = memory.value<std::uint32_t>(buckets_at_ + std::uint64_t{hash % buckets_} * 4);
  if (!bucket || *bucket < first_symbol_ || *bucket >= kMaxSymbols) return;
  for (std::uint32_t at = *bucket; at < *bucket + kMaxChainSteps;) {
    const auto chain =
        read_array<std::uint32_t>(memory, chains_at_ + std::uint64_t{at - first_symbol_} * 4, kChunk, kChunk);
    if (chain.empty()) return;
    for (const std::uint32_t entry : chain) {
      if ((entry | 1) == (hash | 1) && match(at)) return;
      if (entry & 1) return;  // the lowest bit marks the end of a chain
      ++at;
    }
  }
}

void SymbolHash::find_sysv(const Memory& memory, std::string_view name, const SymbolMatch& match) const {
  auto index = memory.value<std::uint32_t>(buckets_at_ + std::uint64_t{sysv_hash(name) % buckets_} * 4);
  for (std::uint32_t steps = 0; index && *index != 0 && *index < symbols_ && steps < kMaxChainSteps; ++steps) {
    if (match(*index)) return;
    index = memory.value<std::uint32_t>(chains_at_ + std::uint64_t{*index} * 4);
  }
}

SymbolRange SymbolHash::range(const Memory& memory) const {
  if (!is_gnu_) return {1, symbols_ > 1 ? symbols_ - 1 : 0};  // symbol 0 is always empty
  const auto buckets = read_array<std::uint32_t>(memory, buckets_at_, buckets_, kMaxSymbols);
  std::uint32_t last = 0;
  for (const std::uint32_t bucket : buckets) last = std::max(last, bucket);
  if (last < first_symbol_ || last >= kMaxSymbols) return {first_symbol_, 0};
  return {first_symbol_, end_of_chain(memory, last) - first_symbol_};
}

std::uint32_t SymbolHash::end_of_chain(const Memory& memory, std::uint32_t index) const {
  while (index < kMaxSymbols) {
    const auto chain =
        read_array<std::uint32_t>(memory, chains_at_ + std::uint64_t{index - first_symbol_} * 4, kChunk, kChunk);
    if (chain.empty()) return index;
    for (const std::uint32_t entry : chain) {
      ++index;
      if (entry & 1) return index;
    }
  }
  return index;
}

}  // namespace fade::elf
