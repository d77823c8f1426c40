#include "elf/kernel_handles.hpp"

#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_set>

namespace fade::elf {
namespace {

constexpr const char* kRegister = "__hipRegisterFunction";
constexpr std::size_t kMaxKernelName = 4096;
constexpr std::size_t kMaxKernels = 1'000'000;

using Bytes = std::span<const std::byte>;
using Addresses = std::unordered_set<std::uint64_t>;

bool starts_with(Bytes code, std::size_t at, std::initializer_list<int> pattern) {
  if (at + pattern.size() > code.size()) return false;
  for (const int byte : pattern)
    if (code[at++] != std::byte(byte)) return false;
  return true;
}

std::int32_t number_at(Bytes code, std::size_t at) {
  std::int32_t n = 0;
  if (at + sizeof n <= code.size()) std::memcpy(&n, code.data() + at, sizeof n);
  return n;
}

// The target of an instruction whose last four bytes are relative to its end. `length` is the instruction's length.
std::uint64_t relative(const Section& section, Bytes code, std::size_t at, std::size_t length) {
  return section.address + at + length + static_cast<std::uint64_t>(std::int64_t{number_at(code, at + length - 4)});
}

// GOT entries that the linker fills with the address of the function.
Addresses got_entries(const ElfFile& file) {
  Addresses out;
  for (const Section& section : file.sections()) {
    Elf_Scn* scn = section.type == SHT_RELA ? ::elf_getscn(file.handle(), section.index) : nullptr;
    GElf_Shdr header, symbols_header;
    if (!scn || !::gelf_getshdr(scn, &header)) continue;
    Elf_Scn* symbols_scn = ::elf_getscn(file.handle(), header.sh_link);
    Elf_Data* relocations = ::elf_getdata(scn, nullptr);
    Elf_Data* symbols = symbols_scn ? ::elf_getdata(symbols_scn, nullptr) : nullptr;
    if (!relocations || !symbols || !::gelf_getshdr(symbols_scn, &symbols_header)) continue;
    GElf_Rela r;
    for (int i = 0; ::gelf_getrela(relocations, i, &r); ++i) {
      const auto type = GELF_R_TYPE(r.r_info);
      GElf_Sym symbol;
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (!::gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(r.r_info)), &symbol)) continue;
      const char* name = ::elf_strptr(file.handle(), symbols_header.sh_link, symbol.st_name);
      if (name && std::strcmp(name, kRegister) == 0) out.insert(r.r_offset);
    }
  }
  return out;
}

// PLT stubs that jump through one of these entries, by every address that a call may use: with or without endbr64 (f3
// 0f 1e fa) and the bnd prefix (f2).
void add_stubs(const Section& section, Bytes code, const Addresses& got, Addresses& stubs) {
  for (std::size_t at = 0; at + 6 <= code.size(); ++at) {
    if (!starts_with(code, at, {0xff, 0x25})) continue;
    if (!got.contains(relative(section, code, at, 6))) continue;
    std::size_t start = at;
    stubs.insert(section.address + start);
    if (start >= 1 && code[start - 1] == std::byte(0xf2)) stubs.insert(section.address + --start);
    if (start >= 4 && starts_with(code, start - 4, {0xf3, 0x0f, 0x1e, 0xfa})) stubs.insert(section.address + start - 4);
  }
}

// Scans code byte by byte, without decoding. Bytes that look like an argument count only if they lead to a possible
// argument, so bytes inside other instructions do no harm.
class Scan {
 public:
  Scan(const ElfFile& file, const Addresses& got, const Addresses& targets, std::map<std::uint64_t, std::string>& out)
      : file_(file), got_(got), targets_(targets), out_(out) {}

  void run(const Section& section, Bytes code) {
    handle_.reset();
    name_.reset();
    registers_ = 0;
    for (std::size_t at = 0; at + 2 <= code.size() && out_.size() < kMaxKernels; ++at) {
      take_argument(section, code, at);
      take_function(section, code, at);
      if (!is_call(section, code, at) && !is_call_by_register(code, at)) continue;
      if (handle_ && name_) out_.emplace(*handle_, *name_);
      handle_.reset();
      name_.reset();
    }
  }

 private:
  enum class Into { Handle, Name };
  struct Form {
    std::array<int, 3> opcode;
    std::size_t length;  // of the opcode; a 32-bit number follows
    // relative to the next instruction; else an absolute address, in code that is not position-independent
    bool relative;
    Into into;
  };
  static constexpr std::array<Form, 6> kForms{{
      {{0x48, 0x8d, 0x35}, 3, true, Into::Handle},  // lea n(%rip),%rsi
      {{0x48, 0x8d, 0x15}, 3, true, Into::Name},    // lea n(%rip),%rdx
      {{0x48, 0x8d, 0x0d}, 3, true, Into::Name},    // lea n(%rip),%rcx
      {{0xbe}, 1, false, Into::Handle},             // mov $n,%esi
      {{0xba}, 1, false, Into::Name},               // mov $n,%edx
      {{0xb9}, 1, false, Into::Name},               // mov $n,%ecx
  }};

  void take_argument(const Section& section, Bytes code, std::size_t at) {
    for (const Form& form : kForms) {
      if (code[at] != std::byte(form.opcode[0]) || at + form.length + 4 > code.size()) continue;
      if (form.length == 3 && !starts_with(code, at, {form.opcode[0], form.opcode[1], form.opcode[2]})) continue;
      if (!form.relative && file_.position_independent()) continue;
      const auto number = static_cast<std::uint64_t>(std::int64_t{number_at(code, at + form.length)});
      const std::uint64_t to = form.relative ? section.address + at + form.length + 4 + number : number & 0xffffffff;
      if (form.into == Into::Handle) take_handle(to);
      else take_name(to);
    }
  }

  void take_handle(std::uint64_t to) {
    const Section* section = file_.section_at(to);
    if (section && section->writable) handle_ = to;
  }

  void take_name(std::uint64_t to) {
    const Section* section = file_.section_at(to);
    if (!section || section->writable || section->executable) return;
    const Bytes bytes = file_.bytes(*section);
    if (to - section->address >= bytes.size()) return;
    const char* text = reinterpret_cast<const char*>(bytes.data()) + (to - section->address);
    const std::size_t most = std::min<std::size_t>(kMaxKernelName, bytes.size() - (to - section->address));
    const std::size_t length = ::strnlen(text, most);
    const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
    if (length > 0 && length < most && std::all_of(text, text + length, printable)) name_.emplace(text, length);
  }

  // mov n(%rip),%reg: a constructor with many calls keeps the function's address in a register.
  void take_function(const Section& section, Bytes code, std::size_t at) {
    if (!starts_with(code, at, {0x48, 0x8b}) && !starts_with(code, at, {0x4c, 0x8b})) return;
    if (at + 7 > code.size() || (code[at + 2] & std::byte(0xc7)) != std::byte(0x05)) return;
    const unsigned low = std::to_integer<unsigned>(code[at + 2]) >> 3;
    const unsigned bit = 1u << (code[at] == std::byte(0x4c) ? low + 8 : low);
    if (got_.contains(relative(section, code, at, 7))) registers_ |= bit;
    else registers_ &= ~bit;
  }

  bool is_call(const Section& section, Bytes code, std::size_t at) const {
    if (code[at] == std::byte(0xe8)) return targets_.contains(relative(section, code, at, 5));
    return starts_with(code, at, {0xff, 0x15}) && got_.contains(relative(section, code, at, 6));
  }

  bool is_call_by_register(Bytes code, std::size_t at) const {
    if (registers_ == 0 || code[at] != std::byte(0xff) || (code[at + 1] & std::byte(0xf8)) != std::byte(0xd0))
      return false;
    const unsigned low = std::to_integer<unsigned>(code[at + 1]) & 7;
    const bool upper = at > 0 && code[at - 1] == std::byte(0x41);
    return (registers_ >> (upper ? low + 8 : low) & 1) != 0;
  }

  const ElfFile& file_;
  const Addresses& got_;
  const Addresses& targets_;
  std::map<std::uint64_t, std::string>& out_;
  std::optional<std::uint64_t> handle_;
  std::optional<std::string> name_;
  unsigned registers_ = 0;  // the registers that hold the function's address, by bit
};

}  // namespace

std::map<std::uint64_t, std::string> registered_kernels(const ElfFile& file) {
  std::map<std::uint64_t, std::string> out;
  const Addresses got = got_entries(file);
  if (got.empty()) return out;
  Addresses targets;
  for (const Section& section : file.sections())
    if (section.executable) add_stubs(section, file.bytes(section), got, targets);
  Scan scan(file, got, targets, out);
  for (const Section& section : file.sections())
    if (section.executable) scan.run(section, file.bytes(section));
  return out;
}

}  // namespace fade::elf
