// An ELF object that is mapped in another process, read through Memory alone. Therefore deleted files, memfd and
// replaced files work too. Owns nothing; the Memory must outlive it. Nothing that is read is trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"
#include "elf/dynamic_section.hpp"

namespace fade::elf {

struct Segment {  // a PT_LOAD
  RemoteRange range;
  bool writable = false;
  bool executable = false;
};

struct DynamicSymbol {
  std::string name;
  std::uint64_t offset = 0;  // from bias(): st_value
  std::uint64_t size = 0;
  bool function = false;
  bool ifunc = false;  // offset is of the resolver
};

class DynamicImage {
 public:
  // `header`: the address at which the ELF header is mapped (offset 0 of the file).
  static Result<DynamicImage> open(const Memory& memory, RemoteAddr header);
  // The main program, from AT_PHDR and AT_PHNUM of the auxiliary vector.
  static Result<DynamicImage> open_program(const Memory& memory, RemoteAddr at_phdr, std::uint64_t at_phnum);

  const Memory& memory() const { return *memory_; }
  // The difference between addresses in the process and in the file: l_addr of the link map.
  std::uint64_t bias() const { return bias_; }
  RemoteAddr address(const DynamicSymbol& symbol) const { return {bias_ + symbol.offset}; }
  RemoteRange span() const { return span_; }  // of all PT_LOADs, not page-aligned
  const std::vector<Segment>& segments() const { return segments_; }
  RemoteAddr entry() const { return entry_; }  // null from open_program()
  bool is_dynamic() const { return static_cast<bool>(dynamic_at_); }
  RemoteAddr dynamic() const { return dynamic_at_; }   // l_ld of the link map
  RemoteAddr debug() const { return dynamic_.debug; }  // r_debug by DT_DEBUG; null until ld.so has set it
  bool in_code(RemoteAddr address) const;
  // True if the loader has not relocated the object yet. Then the target of DT_INIT_ARRAY, which only the loader
  // writes, still is an address of the file. nullopt: the object has no such array, or no bias.
  std::optional<bool> is_unrelocated() const;
  // The whole pages that the loader protects when it has relocated the object; may be empty.
  RemoteRange relro() const { return relro_; }

  std::string soname() const;               // empty if it has none
  std::vector<std::string> needed() const;  // DT_NEEDED
  std::string build_id() const;             // hex, empty if it has none
  std::string rpath() const;                // DT_RPATH as written; empty if it has none
  std::string runpath() const;              // DT_RUNPATH
  const DynamicTables& tables() const { return dynamic_.tables; }

  // The defined symbol with that name, in the default version if there are several. About five reads; one or two if the
  // module has no such symbol.
  std::optional<DynamicSymbol> lookup(std::string_view name) const;
  // Every function that is defined in executable memory, at most kMaxSymbols, sorted by address. Versions are ignored:
  // a name with several versions occurs once per address.
  std::vector<DynamicSymbol> all_functions() const;

 private:
  struct ProgramHeader;
  struct RawSymbol;
  explicit DynamicImage(const Memory& memory) : memory_(&memory) {}
  static Result<DynamicImage> build(const Memory& memory, std::uint64_t bias,
                                    const std::vector<ProgramHeader>& headers);
  std::string text(std::optional<std::uint64_t> offset) const;
  bool is_named(const RawSymbol& symbol, std::string_view name) const;
  std::optional<DynamicSymbol> decode(const RawSymbol& symbol) const;
  bool is_old_version(std::uint32_t index) const;

  const Memory* memory_;
  std::uint64_t bias_ = 0;
  RemoteRange span_;
  RemoteAddr entry_, dynamic_at_;
  std::vector<Segment> segments_;
  RemoteRange relro_;
  struct Notes {
    RemoteRange range;
    std::uint64_t align = 4;
  };
  std::vector<Notes> notes_;
  DynamicSection dynamic_;
};

}  // namespace fade::elf
