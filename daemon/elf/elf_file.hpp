// An ELF file on disk, read with libelf: its symbols, its sections, its build id, its separate debug file. Owns the
// descriptor. Addresses are of the file (st_value): add the load bias for an address in a process. One thread at a
// time. Never uses the network, even if DEBUGINFOD_URLS is set: libdwfl, which would, is not used.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "elf/symbol_table.hpp"

struct Elf;

namespace fade::elf {

inline constexpr const char* kDebugRoot = "/usr/lib/debug";

struct Section {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in the file
  std::size_t index = 0;
  std::uint32_t type = 0;  // SHT_
  bool allocated = false, executable = false, writable = false;

  bool contains(std::uint64_t a) const { return allocated && a >= address && a - address < size; }
};

struct DebugLink {
  std::string file;  // a name without folder
  std::uint32_t crc = 0;
};

class ElfFile {
 public:
  // `name` is the path in the process, for messages and to find the debug file. The file must be ELF64 for x86-64;
  // symbols and sections may be missing.
  static Result<ElfFile> open(Fd fd, std::string name);
  static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  const std::string& name() const { return name_; }
  ::Elf* handle() const { return elf_.get(); }
  int fd() const { return fd_.get(); }
  bool position_independent() const { return position_independent_; }

  // Functions and objects of .symtab and .dynsym, and of an attached debug file. Built at the first call.
  const SymbolTable& symbols() const;
  // Looks for the file's separate debug file under `root`, by build id or .gnu_debuglink. Returns false if there is
  // none.
  bool attach_debug_file(const std::string& root = kDebugRoot);
  const ElfFile* debug_file() const { return debug_file_.get(); }

  const std::vector<Section>& sections() const { return sections_; }
  const Section* section(std::string_view name) const;
  const Section* section_at(std::uint64_t address) const;
  // The bytes of a section as in the file; empty if it has none. Valid as long as the ElfFile.
  std::span<const std::byte> bytes(const Section& section) const;

  std::string build_id() const;  // hex, empty if it has none
  std::optional<DebugLink> debug_link() const;

 private:
  struct Close {
    void operator()(::Elf* elf) const;
  };
  ElfFile() = default;
  void read_sections();
  void append_symbols(const Section& table, std::vector<FileSymbol>& to) const;

  Fd fd_;
  std::string name_;
  std::unique_ptr<::Elf, Close> elf_;
  bool position_independent_ = true;
  std::vector<Section> sections_;
  std::unique_ptr<ElfFile> debug_file_;
  mutable std::unique_ptr<SymbolTable> symbols_;
};

}  // namespace fade::elf
