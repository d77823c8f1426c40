#include "elf/dynamic_section.hpp"

#include <elf.h>

#include <algorithm>

#include "elf/remote_array.hpp"

namespace fade::elf {
namespace {

constexpr std::uint64_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxNeeded = 1024;

// Where an object is.
struct Placed {
  RemoteRange span;
  std::uint64_t bias = 0;

  // glibc adds the bias to most addresses in place once the object is loaded. At exec, in objects with a read-only
  // dynamic section (the vDSO) and under musl the addresses are still as in the file.
  RemoteAddr pointer(std::uint64_t d_ptr) const {
    if (span.contains({d_ptr})) return {d_ptr};
    const RemoteAddr moved{bias + d_ptr};
    return span.contains(moved) ? moved : RemoteAddr{};
  }
  // The table must lie in the object completely.
  RemoteRange table(RemoteAddr begin, std::uint64_t size) const {
    return {begin, begin ? begin + std::min(size, span.end - begin) : begin};
  }
};

}  // namespace

DynamicSection DynamicSection::read(const Memory& memory, RemoteRange at, RemoteRange span, std::uint64_t bias) {
  const Placed placed{span, bias};
  DynamicSection out;
  RemoteAddr gnu_hash, hash, jump_slots, relocations;
  std::uint64_t jump_slots_size = 0, relocations_size = 0, initializers_size = 0;
  for (const auto& d : read_array<Elf64_Dyn>(memory, at.begin, at.size() / sizeof(Elf64_Dyn), kMaxDynamicEntries)) {
    if (d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_SYMTAB) out.tables.symbols = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_STRTAB) out.tables.strings = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_VERSYM) out.versions = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_STRSZ) out.tables.strings_size = d.d_un.d_val;
    else if (d.d_tag == DT_GNU_HASH) gnu_hash = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_HASH) hash = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_SONAME) out.soname = d.d_un.d_val;
    else if (d.d_tag == DT_NEEDED && out.needed.size() < kMaxNeeded) out.needed.push_back(d.d_un.d_val);
    else if (d.d_tag == DT_INIT_ARRAY) out.initializers = {bias + d.d_un.d_ptr};
    else if (d.d_tag == DT_INIT_ARRAYSZ) initializers_size = d.d_un.d_val;
    else if (d.d_tag == DT_DEBUG) out.debug = {d.d_un.d_ptr};
    else if (d.d_tag == DT_RPATH) out.rpath = d.d_un.d_val;
    else if (d.d_tag == DT_RUNPATH) out.runpath = d.d_un.d_val;
    else if (d.d_tag == DT_JMPREL) jump_slots = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_PLTRELSZ) jump_slots_size = d.d_un.d_val;
    else if (d.d_tag == DT_RELA) relocations = placed.pointer(d.d_un.d_ptr);
    else if (d.d_tag == DT_RELASZ) relocations_size = d.d_un.d_val;
    else if (d.d_tag == DT_RELACOUNT) out.tables.relative = d.d_un.d_val;
  }
  if (initializers_size < sizeof(std::uint64_t)) out.initializers = {};
  out.tables.jump_slots = placed.table(jump_slots, jump_slots_size);
  out.tables.relocations = placed.table(relocations, relocations_size);
  if (!out.tables.symbols || !out.tables.strings) return out;
  if (gnu_hash) out.hash = SymbolHash::gnu(memory, gnu_hash);
  if (!out.hash && hash) out.hash = SymbolHash::sysv(memory, hash);
  return out;
}

std::string DynamicSection::text(const Memory& memory, std::uint64_t offset) const {
  if (!tables.strings || offset >= tables.strings_size) return {};
  const auto limit = static_cast<std::size_t>(std::min<std::uint64_t>(kMaxText, tables.strings_size - offset));
  return memory.c_string(tables.strings + offset, limit).value_or(std::string());
}

}  // namespace fade::elf
