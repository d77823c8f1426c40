#include "elf/dwarf_file.hpp"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "base/own_memory.hpp"
#include "elf/debug_file.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMaxDies = 20'000'000;
constexpr std::size_t kMaxUnits = 1'000'000;
constexpr std::size_t kMaxScopes = 64;

bool has_dwarf(const ElfFile& file) {
  for (const char* name : {".debug_info", ".zdebug_info"}) {
    const Section* section = file.section(name);
    if (section && !file.bytes(*section).empty()) return true;
  }
  return false;
}

bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module;
}

std::optional<std::uint64_t> entry_of(Dwarf_Die& die) {
  Dwarf_Addr address = 0;
  if (::dwarf_entrypc(&die, &address) != 0 && ::dwarf_lowpc(&die, &address) != 0) return std::nullopt;
  return address;
}

// Calls visit for every function of a unit. If visit returns false, the walk ends. Not recursive, because the file
// decides the depth of nesting.
using Visit = std::function<bool(Dwarf_Die&)>;
bool walk_unit(Dwarf_Die unit, std::size_t& budget, const Visit& visit) {
  std::vector<Dwarf_Die> open;  // the next sibling to look at, per level
  Dwarf_Die child;
  if (::dwarf_child(&unit, &child) == 0) open.push_back(child);
  while (!open.empty()) {
    if (budget-- == 0) return false;
    Dwarf_Die die = open.back();
    if (::dwarf_siblingof(&die, &open.back()) != 0) open.pop_back();
    const int tag = ::dwarf_tag(&die);
    if (tag == DW_TAG_subprogram && !visit(die)) return false;
    if (holds_functions(tag) && open.size() < kMaxScopes && ::dwarf_child(&die, &child) == 0) open.push_back(child);
  }
  return true;
}

// Walks the units that `wanted` accepts.
void walk(::Dwarf* dwarf, const std::function<bool(Dwarf_Die&)>& wanted, const Visit& visit) {
  std::size_t budget = kMaxDies;
  Dwarf_Off at = 0, next = 0;
  std::size_t header = 0;
  for (std::size_t units = 0; units < kMaxUnits; ++units, at = next) {
    if (::dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) != 0) return;
    Dwarf_Die unit;
    if (!::dwarf_offdie(dwarf, at + header, &unit) || !wanted(unit)) continue;
    if (!walk_unit(unit, budget, visit)) return;
  }
}

bool is_called(Dwarf_Die& die, const std::string& name) {
  const char* plain = ::dwarf_diename(&die);  // follows origin and specification
  return (plain && name == plain) || linkage_name(die) == name;
}

// libdw assumes that the texts of these sections end with a NUL, and would read beyond a damaged section.
bool strings_end(const ElfFile& file) {
  return std::ranges::all_of(file.sections(), [&](const Section& s) {
    if (!s.name.ends_with("debug_str") && !s.name.ends_with("debug_line_str")) return true;
    Elf_Scn* scn = ::elf_getscn(file.handle(), s.index);
    const Elf_Data* data = scn ? ::elf_getdata(scn, nullptr) : nullptr;  // libdw has unpacked the section before this
    return !data || data->d_size == 0 || !data->d_buf ||
           static_cast<const char*>(data->d_buf)[data->d_size - 1] == '\0';
  });
}

}  // namespace

std::string linkage_name(Dwarf_Die die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* text = ::dwarf_formstring(::dwarf_attr_integrate(&die, name, &attribute));
    if (text) return text;
  }
  return {};
}

Result<DwarfFile> DwarfFile::open(const ElfFile& file, const std::string& debug_root) {
  const ElfFile* source = has_dwarf(file) ? &file : file.debug_file();
  if (!source || !has_dwarf(*source))
    return fail("there is no debug information for " + file.name(),
                fmt::format("it has none and {} has no debug file of it", debug_root),
                "compile it with -g, or install its debug symbols (-dbgsym package)", ENODATA);
  DwarfFile out;
  out.dwarf_.reset(::dwarf_begin_elf(source->handle(), DWARF_C_READ, nullptr));
  if (!out.dwarf_) return fail("cannot read the debug information of " + source->name(), ::dwarf_errmsg(-1));
  ::dwarf_new_oom_handler(out.dwarf_.get(), own_memory::ran_out);
  if (!strings_end(*source))
    return fail("cannot read the debug information of " + source->name(), "it is damaged: a text in it does not end");
  if (const auto done = out.attach_alternate(debug_root); !done) return tl::unexpected(done.error());
  return out;
}

// Debug information compressed with dwz is partly in a second file. libdw would open any path written in the first
// file, so fade finds the second file itself or refuses both.
Result<void> DwarfFile::attach_alternate(const std::string& debug_root) {
  const char* path = nullptr;
  const void* id = nullptr;
  const ssize_t id_size = ::dwelf_dwarf_gnu_debugaltlink(dwarf_.get(), &path, &id);
  if (id_size <= 0) return {};
  std::string build_id;
  for (ssize_t i = 0; i < id_size && i < 64; ++i)
    build_id += fmt::format("{:02x}", static_cast<const std::uint8_t*>(id)[i]);
  auto found = debug_file_by_id(build_id, debug_root);
  const std::string folder = debug_root + "/.dwz/";
  if (!found && std::strncmp(path, folder.c_str(), folder.size()) == 0 && !std::strstr(path, "/../")) {
    if (auto file = open_regular(path); file && file->build_id() == build_id) found = std::move(file);
  }
  if (!found)
    return fail("cannot read the debug information", fmt::format("its shared part {} is not installed", path));
  alternate_file_ = std::make_unique<ElfFile>(std::move(*found));
  alternate_.reset(::dwarf_begin_elf(alternate_file_->handle(), DWARF_C_READ, nullptr));
  if (!alternate_) return fail("cannot read the debug information in " + alternate_file_->name(), ::dwarf_errmsg(-1));
  ::dwarf_new_oom_handler(alternate_.get(), own_memory::ran_out);
  if (!strings_end(*alternate_file_))
    return fail("cannot read the debug information in " + alternate_file_->name(),
                "it is damaged: a text in it does not end");
  ::dwarf_setalt(dwarf_.get(), alternate_.get());
  return {};
}

std::optional<Dwarf_Die> DwarfFile::function_at(std::uint64_t address, const std::string& name) const {
  std::optional<Dwarf_Die> out;
  const auto covers = [&](Dwarf_Die& unit) { return ::dwarf_haspc(&unit, address) != 0; };  // -1: unknown
  walk(dwarf_.get(), covers, [&](Dwarf_Die& die) {
    if (entry_of(die) != address) return true;
    const bool sure = is_called(die, name);
    if (!out || sure) out = die;
    return !sure;
  });
  return out;
}

std::optional<Dwarf_Die> DwarfFile::only_function_called(const std::string& name) const {
  std::optional<Dwarf_Die> out;
  bool several = false;
  const auto any = [](Dwarf_Die&) { return true; };
  walk(dwarf_.get(), any, [&](Dwarf_Die& die) {
    if (!entry_of(die) || !is_called(die, name)) return true;
    several = out && entry_of(*out) != entry_of(die);
    out = die;
    return !several;
  });
  return several ? std::nullopt : out;
}

}  // namespace fade::elf
