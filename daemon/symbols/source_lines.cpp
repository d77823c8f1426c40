#include "symbols/source_lines.hpp"

#include <dwarf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "elf/dwarf_die.hpp"

namespace fade::symbols {

struct CodeRange {
  std::uint64_t low = 0, high = 0;
  Dwarf_Off die = 0;
};

namespace {

constexpr std::uint64_t kMostBytes = 256u << 20;  // of debug sections, unpacked
constexpr std::size_t kMostUnits = 1'000'000, kMostRanges = 4'000'000, kMostPieces = 10'000;
constexpr std::size_t kMostDies = 4'000'000;  // of one unit
constexpr std::size_t kMostNesting = 64, kMostInlined = 64;
constexpr int kMostChildren = 1'000'000;
constexpr std::size_t kMostText = 4096;
constexpr int kUnitsAtOnce = 128;  // libdw keeps each unit that it has read until it is closed

std::uint64_t unpacked_size(const elf::ElfFile& file, const elf::Section& section) {
  Elf_Scn* scn = ::elf_getscn(file.handle(), section.index);
  GElf_Chdr packed;
  if (scn && ::gelf_getchdr(scn, &packed)) return std::max<std::uint64_t>(packed.ch_size, section.size);
  if (section.size > kMostBytes) return section.size;
  const auto bytes = section.name.starts_with(".zdebug") ? file.bytes(section) : std::span<const std::byte>{};
  if (bytes.size() < 12) return section.size;  // "ZLIB", then the size with the highest byte first
  std::uint64_t size = 0;
  for (std::size_t i = 4; i < 12; ++i) size = size << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return size;
}

bool is_affordable(const elf::ElfFile& file) {
  std::uint64_t left = kMostBytes;
  for (const elf::Section& s : file.sections()) {
    if (!s.name.starts_with(".debug_") && !s.name.starts_with(".zdebug_")) continue;
    const std::uint64_t size = unpacked_size(file, s);
    if (size > left) return false;
    left -= size;
  }
  return true;
}

// Calls add(low, high) for each piece of code that the entry describes.
template <class Add>
void for_each_range(Dwarf_Die& die, Add&& add) {
  Dwarf_Addr base = 0, low = 0, high = 0;
  std::ptrdiff_t at = 0;
  for (std::size_t i = 0; i < kMostPieces && (at = ::dwarf_ranges(&die, at, &base, &low, &high)) > 0; ++i)
    if (low < high && low != 0) add(low, high);  // 0: code that the linker left out
}

bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

std::string bounded(const char* text) { return text ? std::string(text, ::strnlen(text, kMostText)) : std::string(); }

std::string function_of(Dwarf_Die& die) {
  std::string name = elf::linkage_name(die);
  if (name.empty()) name = bounded(::dwarf_diename(&die));
  name.resize(std::min(name.size(), kMostText));
  return name;
}

std::optional<CodeRange> covering(const std::vector<CodeRange>& sorted, std::uint64_t address) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), address,
                                [](std::uint64_t a, const CodeRange& r) { return a < r.low; });
  for (std::size_t i = 0; i < kMostNesting && after != sorted.begin(); ++i)
    if (--after; address < after->high) return *after;
  return std::nullopt;
}

void sort_by_address(std::vector<CodeRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return std::pair(a.low, b.high) < std::pair(b.low, a.high); });
}

}  // namespace

struct SourceLines::State {
  const elf::ElfFile& file;
  std::string root;
  std::optional<elf::DwarfFile> dwarf;
  std::vector<CodeRange> units;
  Dwarf_Off unit = 0;  // the open unit
  bool has_unit = false;
  std::vector<CodeRange> functions;  // of the open unit
  int opened = 0;                    // units since `dwarf` was opened

  Result<void> reopen() {
    dwarf.reset();
    has_unit = false;
    opened = 0;
    auto again = elf::DwarfFile::open(file, root);
    if (!again) return tl::unexpected(std::move(again.error()));
    dwarf.emplace(std::move(*again));
    return {};
  }
  void read_units();
  bool enter(Dwarf_Off wanted);
  void read_functions(Dwarf_Die unit_die);
  std::vector<Place> places(Dwarf_Die unit_die, std::optional<Dwarf_Off> function, std::uint64_t address);
};

void SourceLines::State::read_units() {
  ::Dwarf_CU* at = nullptr;
  Dwarf_Die die;
  std::uint8_t type = 0;
  for (std::size_t n = 0;
       n < kMostUnits && ::dwarf_get_units(dwarf->handle(), at, &at, nullptr, &type, &die, nullptr) == 0; ++n) {
    if (type != DW_UT_compile) continue;  // other units have no code of their own, or have it in another file
    for_each_range(die, [&](std::uint64_t low, std::uint64_t high) {
      if (units.size() < kMostRanges) units.push_back({low, high, ::dwarf_dieoffset(&die)});
    });
  }
  sort_by_address(units);
}

bool SourceLines::State::enter(Dwarf_Off wanted) {
  if (has_unit && unit == wanted) return true;
  if (opened++ >= kUnitsAtOnce && !reopen()) return false;
  Dwarf_Die die;
  if (!dwarf || !::dwarf_offdie(dwarf->handle(), wanted, &die)) return false;
  read_functions(die);
  unit = wanted;
  return has_unit = true;
}

// Not recursive, because the file decides the depth of nesting.
void SourceLines::State::read_functions(Dwarf_Die unit_die) {
  functions.clear();
  std::vector<Dwarf_Die> open;  // the next sibling to look at, per level
  Dwarf_Die child;
  if (::dwarf_child(&unit_die, &child) == 0) open.push_back(child);
  for (std::size_t seen = 0; !open.empty() && seen < kMostDies; ++seen) {
    Dwarf_Die die = open.back();
    if (::dwarf_siblingof(&die, &open.back()) != 0) open.pop_back();
    const int tag = ::dwarf_tag(&die);
    if (tag == DW_TAG_subprogram)
      for_each_range(die, [&](std::uint64_t low, std::uint64_t high) {
        if (functions.size() < kMostRanges) functions.push_back({low, high, ::dwarf_dieoffset(&die)});
      });
    if (holds_functions(tag) && open.size() < kMostNesting && ::dwarf_child(&die, &child) == 0) open.push_back(child);
  }
  sort_by_address(functions);
}

namespace {

// The inlined functions at the address, outermost first: each inside the function before.
std::vector<Dwarf_Die> inlined_at(Dwarf_Die function, std::uint64_t address) {
  std::vector<Dwarf_Die> out;
  Dwarf_Die scope = function;
  bool deeper = true;
  for (std::size_t level = 0; deeper && level < kMostNesting * 4 && out.size() < kMostInlined; ++level) {
    deeper = false;
    elf::for_each_child(scope, kMostChildren, [&](Dwarf_Die& child) {
      const int tag = ::dwarf_tag(&child);
      const bool opens = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
                         tag == DW_TAG_catch_block;
      if (!opens || ::dwarf_haspc(&child, address) != 1) return true;
      if (tag == DW_TAG_inlined_subroutine) out.push_back(child);
      scope = child;
      deeper = true;
      return false;
    });
  }
  return out;
}

struct Line {
  std::string file;
  int line = 0;
};

Line line_of(Dwarf_Die& unit, std::uint64_t address) {
  Line out;
  Dwarf_Line* line = ::dwarf_getsrc_die(&unit, address);
  if (!line) return out;
  if (::dwarf_lineno(line, &out.line) != 0) out.line = 0;
  out.file = bounded(::dwarf_linesrc(line, nullptr, nullptr));
  return out;
}

// The line of the call that was inlined.
Line call_line(Dwarf_Die& unit, Dwarf_Die inlined) {
  Line out;
  if (const auto line = elf::number(inlined, DW_AT_call_line))
    out.line = static_cast<int>(std::min<std::uint64_t>(*line, 1u << 30));
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const auto file = elf::number(inlined, DW_AT_call_file);
  if (file && ::dwarf_getsrcfiles(&unit, &files, &count) == 0 && *file < count)
    out.file = bounded(::dwarf_filesrc(files, *file, nullptr, nullptr));
  return out;
}

}  // namespace

std::vector<Place> SourceLines::State::places(Dwarf_Die unit_die, std::optional<Dwarf_Off> function,
                                              std::uint64_t address) {
  Line line = line_of(unit_die, address);
  Dwarf_Die die;
  std::vector<Place> out;
  if (!function || !::dwarf_offdie(dwarf->handle(), *function, &die)) {
    if (line.line != 0) out.push_back({{}, std::move(line.file), line.line});
    return out;
  }
  std::vector<Dwarf_Die> inlined = inlined_at(die, address);
  for (auto inner = inlined.rbegin(); inner != inlined.rend(); ++inner) {
    out.push_back({function_of(*inner), std::move(line.file), line.line});
    line = call_line(unit_die, *inner);
  }
  out.push_back({function_of(die), std::move(line.file), line.line});
  return out;
}

SourceLines::SourceLines(std::unique_ptr<State> state) : state_(std::move(state)) {}
SourceLines::SourceLines(SourceLines&&) noexcept = default;
SourceLines& SourceLines::operator=(SourceLines&&) noexcept = default;
SourceLines::~SourceLines() = default;

Result<SourceLines> SourceLines::open(const elf::ElfFile& file, const std::string& debug_root) {
  for (const elf::ElfFile* each : {&file, file.debug_file()})
    if (each && !is_affordable(*each))
      return fail("the debug information of " + each->name() + " is left alone", "it is larger than 256 MB");
  auto state = std::make_unique<State>(State{file, debug_root, {}, {}, 0, false, {}, 0});
  if (auto opened = state->reopen(); !opened) return tl::unexpected(std::move(opened.error()));
  state->read_units();
  return SourceLines(std::move(state));
}

std::vector<Place> SourceLines::at(std::uint64_t address) {
  const auto unit = covering(state_->units, address);
  if (!unit || !state_->enter(unit->die)) return {};
  Dwarf_Die unit_die;
  if (!::dwarf_offdie(state_->dwarf->handle(), unit->die, &unit_die)) return {};
  const auto function = covering(state_->functions, address);
  return state_->places(unit_die, function ? std::optional(function->die) : std::nullopt, address);
}

}  // namespace fade::symbols
