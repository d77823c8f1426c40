#include "elf/symbol_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace fade::elf {
namespace {

constexpr int kMaxNesting = 64;              // symbols that start after the covering symbol and end before the address
constexpr std::size_t kMaxNearLength = 256;  // longer names are mangled, and users do not type them

// Among symbols with one address the last one is shown.
auto order(const FileSymbol& s) { return std::make_tuple(s.address, s.exported, s.global, s.size != 0, s.name); }

// Levenshtein distance, or more than `most` if it is larger.
std::size_t distance(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

SymbolTable::SymbolTable(std::vector<FileSymbol> symbols) : symbols_(std::move(symbols)) {
  // Sorted by name within an address, to remove duplicates (.dynsym and .symtab): the exported symbol stays.
  const auto named = [](const FileSymbol& s) { return std::tuple(s.address, s.name, !s.exported, !s.global); };
  std::sort(symbols_.begin(), symbols_.end(), [&](const auto& a, const auto& b) { return named(a) < named(b); });
  const auto same = [](const FileSymbol& a, const FileSymbol& b) { return a.address == b.address && a.name == b.name; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same), symbols_.end());
  std::sort(symbols_.begin(), symbols_.end(), [](const auto& a, const auto& b) { return order(a) < order(b); });
  by_name_.resize(symbols_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::sort(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const FileSymbol &x = symbols_[a], &y = symbols_[b];
    return std::tuple(x.name, !x.exported, !x.global, !x.function) <
           std::tuple(y.name, !y.exported, !y.global, !y.function);
  });
}

std::optional<SymbolAt> SymbolTable::at(std::uint64_t address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t a, const FileSymbol& s) { return a < s.address; });
  const bool is_last = after == symbols_.end();
  auto candidate = after;
  for (int i = 0; i < kMaxNesting && candidate != symbols_.begin(); ++i) {
    --candidate;
    const std::uint64_t offset = address - candidate->address;
    const bool open = candidate->size == 0 && (i == 0 || candidate->address == std::prev(after)->address);
    if (offset < candidate->size || (open && (!is_last || offset == 0)))
      return SymbolAt{candidate->name, offset, candidate->function};
  }
  return std::nullopt;
}

const FileSymbol* SymbolTable::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](std::uint32_t i, std::string_view n) { return symbols_[i].name < n; });
  return found == by_name_.end() || symbols_[*found].name != name ? nullptr : &symbols_[*found];
}

std::vector<std::string> SymbolTable::near(std::string_view name, std::size_t limit) const {
  std::vector<std::pair<std::size_t, std::string_view>> scored;
  if (name.empty() || name.size() > kMaxNearLength) return {};
  const std::size_t most = std::max<std::size_t>(2, name.size() / 4);
  for (const FileSymbol& s : symbols_) {
    if (!s.function || s.name.size() > kMaxNearLength) continue;
    std::size_t score = distance(name, s.name, most);
    if (score > most && s.name.find(name) == std::string_view::npos) continue;
    scored.emplace_back(std::min(score, most) + s.name.size() / 16, s.name);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> out;
  for (const auto& [score, found] : scored)
    if (out.size() < limit && std::find(out.begin(), out.end(), found) == out.end()) out.emplace_back(found);
  return out;
}

}  // namespace fade::elf
