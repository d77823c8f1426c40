#include "elf/dynamic_image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <tuple>

#include "elf/notes.hpp"
#include "elf/remote_array.hpp"

namespace fade::elf {
namespace {

constexpr std::uint64_t kMaxHeaders = 512;
constexpr std::uint64_t kMaxStrings = 64u << 20;
constexpr std::uint64_t kMaxNotes = 64u << 10;
constexpr std::size_t kMaxName = DynamicSection::kMaxText;
constexpr std::size_t kMaxBuildId = 64;
constexpr std::uint64_t kPage = 4096;

tl::unexpected<Error> not_readable(const char* what, RemoteAddr at) {
  return fail(fmt::format("cannot read the {} at {:#x}", what, at.value), "the memory is not readable");
}

// The reason if fade cannot read a file with this header, else empty.
std::string objection(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "there is no ELF header";
  if (header.e_ident[EI_CLASS] == ELFCLASS32) return "it is a 32-bit program or library";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return "it is not a 64-bit little-endian ELF object";
  if (header.e_machine != EM_X86_64) return fmt::format("it is for another processor (e_machine {})", header.e_machine);
  if (header.e_type != ET_DYN && header.e_type != ET_EXEC)
    return fmt::format("it is neither a program nor a library (e_type {})", header.e_type);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > kMaxHeaders)
    return "its program header table is malformed";
  return {};
}

}  // namespace

struct DynamicImage::ProgramHeader : Elf64_Phdr {};
struct DynamicImage::RawSymbol : Elf64_Sym {};

Result<DynamicImage> DynamicImage::open(const Memory& memory, RemoteAddr header_at) {
  const auto header = memory.value<Elf64_Ehdr>(header_at);
  if (!header) return not_readable("ELF header", header_at);
  if (const auto why = objection(*header); !why.empty())
    return fail(fmt::format("cannot use the object at {:#x}", header_at.value), why);
  const auto headers = read_array<ProgramHeader>(memory, header_at + header->e_phoff, header->e_phnum, kMaxHeaders);
  if (headers.size() != header->e_phnum) return not_readable("program headers of the object", header_at);
  // The header is the start of the file, so the segment that maps offset 0 gives the bias, else the first segment.
  const ProgramHeader* first = nullptr;
  for (const auto& h : headers) {
    if (h.p_type != PT_LOAD) continue;
    if (!first || h.p_offset == 0) first = &h;
    if (h.p_offset == 0) break;
  }
  if (!first) return fail(fmt::format("cannot use the object at {:#x}", header_at.value), "it has no PT_LOAD");
  auto image = build(memory, header_at.value + first->p_offset - first->p_vaddr, headers);
  if (image) image->entry_ = {image->bias_ + header->e_entry};
  return image;
}

Result<DynamicImage> DynamicImage::open_program(const Memory& memory, RemoteAddr at_phdr, std::uint64_t at_phnum) {
  // Nearly always the program headers follow the ELF header directly. The ELF header is needed to tell 32 from 64 bit.
  const RemoteAddr page{at_phdr.value / kPage * kPage};
  const auto magic = memory.value<std::array<char, SELFMAG>>(page);
  if (magic && std::memcmp(magic->data(), ELFMAG, SELFMAG) == 0) return open(memory, page);
  const auto headers = read_array<ProgramHeader>(memory, at_phdr, at_phnum, kMaxHeaders);
  for (const auto& h : headers)
    if (h.p_type == PT_PHDR) return build(memory, at_phdr.value - h.p_vaddr, headers);
  return fail("cannot find where the program is loaded",
              fmt::format("no ELF header and no PT_PHDR at {:#x}", at_phdr.value));
}

Result<DynamicImage> DynamicImage::build(const Memory& memory, std::uint64_t bias,
                                         const std::vector<ProgramHeader>& headers) {
  DynamicImage image(memory);
  image.bias_ = bias;
  image.span_ = {{~std::uint64_t{0}}, {0}};
  std::uint64_t dynamic_size = 0;
  for (const auto& h : headers) {
    const RemoteRange range{{bias + h.p_vaddr}, {bias + h.p_vaddr + h.p_memsz}};
    if (h.p_memsz == 0 || range.end < range.begin) continue;
    if (h.p_type == PT_LOAD) {
      image.segments_.push_back({range, (h.p_flags & PF_W) != 0, (h.p_flags & PF_X) != 0});
      image.span_ = {std::min(image.span_.begin, range.begin), std::max(image.span_.end, range.end)};
    } else if (h.p_type == PT_DYNAMIC) {
      image.dynamic_at_ = range.begin;
      dynamic_size = range.size();
    } else if (h.p_type == PT_GNU_RELRO) {
      image.relro_ = {{range.begin.value / kPage * kPage}, {range.end.value / kPage * kPage}};
    } else if (h.p_type == PT_NOTE) {
      image.notes_.push_back({range, h.p_align == 8 ? 8u : 4u});
    }
  }
  if (image.segments_.empty()) return fail("cannot use the object", "none of its segments makes sense");
  if (image.dynamic_at_)
    image.dynamic_ =
        DynamicSection::read(memory, {image.dynamic_at_, image.dynamic_at_ + dynamic_size}, image.span_, bias);
  return image;
}

std::optional<bool> DynamicImage::is_unrelocated() const {
  if (!dynamic_.initializers || bias_ < span_.size()) return std::nullopt;
  const auto first = memory_->value<std::uint64_t>(dynamic_.initializers);
  if (!first) return std::nullopt;
  return *first < span_.end.value - bias_;  // as in the file
}

bool DynamicImage::in_code(RemoteAddr address) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [&](const Segment& s) { return s.executable && s.range.contains(address); });
}

std::string DynamicImage::text(std::optional<std::uint64_t> offset) const {
  return offset ? dynamic_.text(*memory_, *offset) : std::string();
}

std::string DynamicImage::soname() const { return text(dynamic_.soname); }
std::string DynamicImage::rpath() const { return text(dynamic_.rpath); }
std::string DynamicImage::runpath() const { return text(dynamic_.runpath); }

std::vector<std::string> DynamicImage::needed() const {
  std::vector<std::string> out;
  for (const std::uint64_t offset : dynamic_.needed)
    if (auto name = text(offset); !name.empty()) out.push_back(std::move(name));
  return out;
}

std::string DynamicImage::build_id() const {
  for (const Notes& notes : notes_) {
    const auto bytes = read_array<std::byte>(*memory_, notes.range.begin, notes.range.size(), kMaxNotes);
    const auto id = find_note(bytes, notes.align, "GNU", NT_GNU_BUILD_ID);
    if (!id || id->empty() || id->size() > kMaxBuildId) continue;
    std::string out;
    for (const std::byte byte : *id) out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return out;
  }
  return {};
}

bool DynamicImage::is_named(const RawSymbol& symbol, std::string_view name) const {
  if (symbol.st_name >= dynamic_.tables.strings_size || name.size() >= kMaxName) return false;
  const auto text = read_array<char>(*memory_, dynamic_.tables.strings + symbol.st_name, name.size() + 1, kMaxName);
  return text.size() == name.size() + 1 && text.back() == '\0' && std::string_view(text.data(), name.size()) == name;
}

// Decodes all but the name. Returns nullopt for symbols that this object does not define at an address.
std::optional<DynamicSymbol> DynamicImage::decode(const RawSymbol& symbol) const {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned bind = ELF64_ST_BIND(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || bind == STB_LOCAL) return std::nullopt;
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT && type != STT_NOTYPE) return std::nullopt;
  if (!span_.contains({bias_ + symbol.st_value})) return std::nullopt;
  DynamicSymbol out;
  out.offset = symbol.st_value;
  out.size = symbol.st_size;
  out.ifunc = type == STT_GNU_IFUNC;
  out.function = type == STT_FUNC || out.ifunc;
  return out;
}

// True for a symbol that is kept for programs linked long ago (name@VERSION, not name@@VERSION).
bool DynamicImage::is_old_version(std::uint32_t index) const {
  if (!dynamic_.versions) return false;
  constexpr std::uint16_t kHidden = 0x8000;
  return (memory_->value<std::uint16_t>(dynamic_.versions + std::uint64_t{index} * 2).value_or(0) & kHidden) != 0;
}

std::optional<DynamicSymbol> DynamicImage::lookup(std::string_view name) const {
  std::optional<DynamicSymbol> out;
  if (!dynamic_.hash || name.empty()) return out;
  dynamic_.hash->find(*memory_, name, [&](std::uint32_t index) {
    const auto symbol = memory_->value<RawSymbol>(dynamic_.tables.symbols + std::uint64_t{index} * sizeof(Elf64_Sym));
    const auto found = symbol && is_named(*symbol, name) ? decode(*symbol) : std::nullopt;
    if (!found) return false;
    if (!out || !is_old_version(index)) out = found;
    return !is_old_version(index);
  });
  if (out) out->name = name;
  return out;
}

std::vector<DynamicSymbol> DynamicImage::all_functions() const {
  std::vector<DynamicSymbol> out;
  if (!dynamic_.hash) return out;
  const SymbolRange range = dynamic_.hash->range(*memory_);
  const auto symbols = read_array<RawSymbol>(
      *memory_, dynamic_.tables.symbols + std::uint64_t{range.first} * sizeof(Elf64_Sym), range.count, kMaxSymbols);
  const auto strings = read_array<char>(*memory_, dynamic_.tables.strings, dynamic_.tables.strings_size, kMaxStrings);
  std::size_t name_bytes = 0;  // hostile tables can give every symbol the same long name
  for (const auto& symbol : symbols) {
    auto function = decode(symbol);
    if (!function || !function->function || !in_code(address(*function)) || symbol.st_name >= strings.size()) continue;
    const char* name = &strings[symbol.st_name];
    function->name.assign(name, ::strnlen(name, std::min<std::size_t>(kMaxName, strings.size() - symbol.st_name)));
    name_bytes += function->name.size();
    if (name_bytes > 2 * kMaxStrings) break;
    if (!function->name.empty()) out.push_back(std::move(*function));
  }
  const auto key = [](const DynamicSymbol& s) { return std::tie(s.offset, s.name); };
  std::sort(out.begin(), out.end(), [&](const auto& x, const auto& y) { return key(x) < key(y); });
  out.erase(std::unique(out.begin(), out.end(), [&](const auto& x, const auto& y) { return key(x) == key(y); }),
            out.end());
  return out;
}

}  // namespace fade::elf
