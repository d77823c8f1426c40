#include "elf/elf_file.hpp"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>

#include "elf/debug_file.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMaxSections = 65'536;
constexpr std::uint64_t kMaxSymbolBytes = 1ull << 30;
constexpr std::size_t kMaxFileName = 4096;

std::string libelf_says() {
  const char* text = ::elf_errmsg(-1);
  return text ? text : "unknown error of libelf";
}

std::string_view text_at(const Elf_Data* strings, std::uint64_t offset) {
  if (!strings || !strings->d_buf || offset >= strings->d_size) return {};
  const char* text = static_cast<const char*>(strings->d_buf) + offset;
  return {text, ::strnlen(text, std::min<std::size_t>(kMaxFileName, strings->d_size - offset))};
}

bool is_wanted(const GElf_Sym& symbol) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS && symbol.st_value != 0 &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT);
}

}  // namespace

void ElfFile::Close::operator()(::Elf* elf) const { ::elf_end(elf); }
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

Result<ElfFile> ElfFile::open(const std::string& path) {
  // Opened without blocking: the name may by now belong to a FIFO.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail_errno("cannot open " + path);
  return open(std::move(fd), path);
}

Result<ElfFile> ElfFile::open(Fd fd, std::string name) {
  ElfFile file;
  file.fd_ = std::move(fd);
  file.name_ = std::move(name);
  ::elf_version(EV_CURRENT);
  // Not mapped into fade's memory: a file that is truncated during reading must give an error and not a SIGBUS.
  file.elf_.reset(::elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  const std::string what = "cannot read " + file.name_;
  if (!file.elf_) return fail(what, libelf_says());
  GElf_Ehdr header;
  if (::elf_kind(file.handle()) != ELF_K_ELF || !::gelf_getehdr(file.handle(), &header))
    return fail(what, "it is not an ELF file");
  if (::gelf_getclass(file.handle()) != ELFCLASS64 || header.e_machine != EM_X86_64)
    return fail(what, "it is not a 64-bit x86 program or library");
  file.position_independent_ = header.e_type != ET_EXEC;
  file.read_sections();
  return file;
}

void ElfFile::read_sections() {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(handle(), &names) != 0) return;
  for (Elf_Scn* scn = nullptr; (scn = ::elf_nextscn(handle(), scn)) != nullptr && sections_.size() < kMaxSections;) {
    GElf_Shdr header;
    if (!::gelf_getshdr(scn, &header)) continue;
    const char* name = ::elf_strptr(handle(), names, header.sh_name);
    const auto flag = [&](std::uint64_t bit) { return (header.sh_flags & bit) != 0; };
    sections_.push_back({name ? name : "", header.sh_addr, header.sh_size, header.sh_offset, ::elf_ndxscn(scn),
                         header.sh_type, flag(SHF_ALLOC), flag(SHF_EXECINSTR), flag(SHF_WRITE)});
  }
}

const Section* ElfFile::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const Section* ElfFile::section_at(std::uint64_t address) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.contains(address); });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::byte> ElfFile::bytes(const Section& section) const {
  Elf_Scn* scn = section.type == SHT_NOBITS ? nullptr : ::elf_getscn(handle(), section.index);
  const Elf_Data* data = scn ? ::elf_rawdata(scn, nullptr) : nullptr;
  if (!data || !data->d_buf) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

void ElfFile::append_symbols(const Section& table, std::vector<FileSymbol>& to) const {
  Elf_Scn* scn = ::elf_getscn(handle(), table.index);
  GElf_Shdr header;
  if (!scn || !::gelf_getshdr(scn, &header) || table.size > kMaxSymbolBytes) return;
  Elf_Data* data = ::elf_getdata(scn, nullptr);
  Elf_Scn* string_scn = ::elf_getscn(handle(), header.sh_link);
  const Elf_Data* strings = string_scn ? ::elf_getdata(string_scn, nullptr) : nullptr;
  if (!data || !strings) return;
  GElf_Sym symbol;
  for (int i = 1; ::gelf_getsym(data, i, &symbol); ++i) {
    const auto text = is_wanted(symbol) ? text_at(strings, symbol.st_name) : std::string_view();
    if (text.empty()) continue;
    const bool ifunc = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
    to.push_back({symbol.st_value, symbol.st_size, text, ifunc || GELF_ST_TYPE(symbol.st_info) == STT_FUNC, ifunc,
                  table.type == SHT_DYNSYM, GELF_ST_BIND(symbol.st_info) != STB_LOCAL});
  }
}

const SymbolTable& ElfFile::symbols() const {
  if (symbols_) return *symbols_;
  std::vector<FileSymbol> all;
  for (const ElfFile* file : {this, static_cast<const ElfFile*>(debug_file_.get())}) {
    if (!file) continue;
    for (const Section& s : file->sections())
      if (s.type == SHT_DYNSYM || s.type == SHT_SYMTAB) file->append_symbols(s, all);
  }
  symbols_ = std::make_unique<SymbolTable>(std::move(all));
  return *symbols_;
}

bool ElfFile::attach_debug_file(const std::string& root) {
  if (debug_file_) return true;
  auto found = find_debug_file(*this, root);
  if (!found) return false;
  debug_file_ = std::make_unique<ElfFile>(std::move(*found));
  symbols_.reset();
  return true;
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  const ssize_t size = ::dwelf_elf_gnu_build_id(handle(), &bytes);
  std::string out;
  for (ssize_t i = 0; i < std::min<ssize_t>(size, 64); ++i)
    out += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  return out;
}

std::optional<DebugLink> ElfFile::debug_link() const {
  GElf_Word crc = 0;
  const char* file = ::dwelf_elf_gnu_debuglink(handle(), &crc);
  if (!file || !*file || std::strchr(file, '/')) return std::nullopt;
  return DebugLink{file, crc};
}

}  // namespace fade::elf
