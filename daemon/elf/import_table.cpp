#include "elf/import_table.hpp"

#include <elf.h>

#include <algorithm>
#include <unordered_map>

#include "elf/remote_array.hpp"

namespace fade::elf {
namespace {

constexpr std::uint64_t kMaxRelocations = 4'000'000;
constexpr std::uint64_t kRelocationsAtOnce = 64 << 10;
constexpr std::size_t kMaxImports = 16 << 10;
constexpr std::size_t kMaxImport = 256;      // longer names are mangled, and no caller asks for them
constexpr std::uint64_t kWindow = 16 << 10;  // bytes of the string table per read
constexpr std::uint64_t kMostStrings = 128 << 20;
constexpr std::uint64_t kMaxGap = 4096;  // between slots that one read covers
constexpr std::uint64_t kMaxRun = 64 << 10;

struct Slot {
  std::uint32_t symbol;
  std::uint64_t offset;
};

bool names_a_function(const Elf64_Rela& relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

void append_slots(const Memory& memory, RemoteAddr begin, std::uint64_t count, std::vector<Slot>& to) {
  count = std::min(count, kMaxRelocations);
  for (std::uint64_t at = 0; at < count;) {
    const auto some = read_array<Elf64_Rela>(memory, begin + at * sizeof(Elf64_Rela), count - at, kRelocationsAtOnce);
    if (some.empty()) return;
    for (const auto& relocation : some) {
      const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
      if (names_a_function(relocation) && symbol != 0 && symbol < kMaxSymbols)
        to.push_back({static_cast<std::uint32_t>(symbol), relocation.r_offset});
    }
    at += some.size();
  }
}

std::vector<Slot> read_slots(const Memory& memory, const DynamicTables& tables) {
  std::vector<Slot> out;
  const std::uint64_t others = tables.relocations.size() / sizeof(Elf64_Rela);
  const std::uint64_t skipped = std::min(tables.relative, others);
  append_slots(memory, tables.jump_slots.begin, tables.jump_slots.size() / sizeof(Elf64_Rela), out);
  append_slots(memory, tables.relocations.begin + skipped * sizeof(Elf64_Rela), others - skipped, out);
  return out;
}

struct Named {
  std::uint32_t name;  // offset in the string table
  std::uint32_t symbol;
};

// The undefined symbols among the symbols of `slots`, sorted by the place of their names.
std::vector<Named> undefined_symbols(const Memory& memory, const DynamicTables& tables,
                                     const std::vector<Slot>& slots) {
  std::uint32_t last = 0;
  for (const Slot& slot : slots) last = std::max(last, slot.symbol);
  const auto symbols = read_array<Elf64_Sym>(memory, tables.symbols, std::uint64_t{last} + 1, kMaxSymbols);
  std::vector<bool> is_known(symbols.size());
  std::vector<Named> out;
  for (const Slot& slot : slots) {
    if (slot.symbol >= symbols.size() || is_known[slot.symbol]) continue;
    is_known[slot.symbol] = true;
    const Elf64_Sym& symbol = symbols[slot.symbol];
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < tables.strings_size)
      out.push_back({symbol.st_name, slot.symbol});
  }
  std::sort(out.begin(), out.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return out;
}

// String tables of large libraries have many megabytes, but names of imports are a small part. Names are therefore read
// in windows.
class Names {
 public:
  Names(const Memory& memory, const DynamicTables& tables) : memory_(memory), tables_(tables) {}

  // Offsets never decrease from call to call. Empty if unreadable, or if longer than any wanted name.
  std::string_view at(std::uint64_t offset) {
    const bool is_last = begin_ + window_.size() >= tables_.strings_size;
    if (offset - begin_ + (is_last ? 0 : kMaxImport) > window_.size()) fill(offset);
    if (offset - begin_ >= window_.size()) return {};
    const char* name = &window_[offset - begin_];
    const std::size_t room = window_.size() - (offset - begin_);
    const std::size_t length = ::strnlen(name, room);
    return length < room && length < kMaxImport ? std::string_view(name, length) : std::string_view();
  }

 private:
  void fill(std::uint64_t offset) {
    begin_ = offset;
    window_.clear();
    if (read_ > kMostStrings) return;
    window_ = read_array<char>(memory_, tables_.strings + offset, tables_.strings_size - offset, kWindow);
    read_ += kWindow;
  }

  const Memory& memory_;
  const DynamicTables& tables_;
  std::vector<char> window_;
  std::uint64_t begin_ = 0, read_ = 0;
};

}  // namespace

ImportTable ImportTable::read(const Memory& memory, const DynamicImage& image, const NameFilter& wanted) {
  ImportTable out;
  const DynamicTables tables = image.tables();
  if (!tables.symbols || !tables.strings) return out;
  const auto slots = read_slots(memory, tables);
  Names names(memory, tables);
  std::unordered_map<std::uint32_t, std::string> chosen;
  for (const Named& symbol : undefined_symbols(memory, tables, slots))
    if (const auto name = names.at(symbol.name); !name.empty() && wanted(name)) chosen.emplace(symbol.symbol, name);
  if (chosen.empty()) return out;
  for (const Slot& slot : slots)
    if (const auto found = chosen.find(slot.symbol); found != chosen.end() && out.imports_.size() < kMaxImports)
      out.imports_.push_back({found->second, slot.offset});
  std::sort(out.imports_.begin(), out.imports_.end(), [](const Import& a, const Import& b) { return a.slot < b.slot; });
  return out;
}

std::optional<std::vector<std::uint64_t>> ImportTable::words(const Memory& memory, std::uint64_t bias) const {
  std::vector<std::uint64_t> out;
  std::vector<std::byte> run;
  for (std::size_t first = 0; first < imports_.size();) {
    const std::uint64_t begin = imports_[first].slot;
    std::size_t last = first;
    while (last + 1 < imports_.size() && imports_[last + 1].slot - imports_[last].slot <= kMaxGap &&
           imports_[last + 1].slot - begin <= kMaxRun)
      ++last;
    run.resize(imports_[last].slot - begin + sizeof(std::uint64_t));
    if (!memory.read_exactly({bias + begin}, run)) return std::nullopt;
    for (; first <= last; ++first) {
      std::uint64_t word;
      std::memcpy(&word, &run[imports_[first].slot - begin], sizeof word);
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace fade::elf
