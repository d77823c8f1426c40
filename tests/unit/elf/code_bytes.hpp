// Code objects and bundles of them, written byte by byte: for tests, and for the programs that load such.
#pragma once
#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fade::elf::test {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// MessagePack of short texts, small numbers and short lists.
inline std::string text(std::string_view s) {
  return (s.size() < 32 ? std::string(1, static_cast<char>(0xa0 | s.size()))
                        : "\xd9" + std::string(1, static_cast<char>(s.size()))) +
         std::string(s);
}
inline std::string number(unsigned n) {
  return n < 128 ? std::string(1, static_cast<char>(n))
                 : std::string("\xcd") + static_cast<char>(n >> 8) + static_cast<char>(n & 255);
}
inline std::string map(unsigned pairs) {
  return pairs < 16 ? std::string(1, static_cast<char>(0x80 | pairs))
                    : std::string("\xde") + '\0' + static_cast<char>(pairs);
}
inline std::string list(unsigned n) { return std::string(1, static_cast<char>(0x90 | n)); }

inline std::string bare_kernel(std::string_view name) { return map(1) + text(".name") + text(name); }
inline std::string kernel(std::string_view name, unsigned vgprs, bool wgp) {
  return map(6) + text(".name") + text(name) + text(".vgpr_count") + number(vgprs) + text(".args") + list(1) + map(1) +
         text(".size") + number(8) + text(".workgroup_processor_mode") + (wgp ? "\xc3" : "\xc2") +
         text(".wavefront_size") + number(32) + text(".group_segment_fixed_size") + number(2048);
}
inline std::string metadata(const std::vector<std::string>& kernels,
                            std::string_view target = "amdgcn-amd-amdhsa--gfx1100") {
  std::string out = map(3) + text("amdhsa.version") + list(2) + number(1) + number(2) + text("amdhsa.kernels") +
                    list(static_cast<unsigned>(kernels.size()));
  for (const std::string& k : kernels) out += k;
  return out + text("amdhsa.target") + text(target);
}

inline std::string elf_with(const std::string& note, std::uint16_t machine = 224) {
  std::string notes;
  put(notes, Elf64_Nhdr{4, 4, 1});
  notes += std::string("LLD\0", 4) + "abcd";
  put(notes, Elf64_Nhdr{7, static_cast<Elf64_Word>(note.size()), 32});
  notes += std::string("AMDGPU\0\0", 8) + note;
  notes.resize((notes.size() + 3) / 4 * 4);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = notes.size();
  std::string out;
  put(out, header);
  put(out, segment);
  return out + notes;
}

// With a descriptor of the kernel that says so, as a loader maps it 0x1000 behind where it lies in the file.
inline std::string elf_with_descriptor(const std::string& note, const std::string& kernel, std::uint32_t resource) {
  std::string out = elf_with(note);
  Elf64_Ehdr header;
  std::memcpy(&header, out.data(), sizeof header);
  const std::string names = std::string(1, '\0') + kernel + ".kd" + '\0';
  std::string descriptor(64, '\0');
  std::memcpy(descriptor.data() + 48, &resource, sizeof resource);
  const std::uint64_t at = (out.size() + 7) / 8 * 8;
  out.resize(at);
  out += descriptor;
  const Elf64_Sym symbol{
      .st_name = 1, .st_info = STT_OBJECT, .st_other = 0, .st_shndx = 1, .st_value = at + 0x1000, .st_size = 64};
  const std::uint64_t symbols = out.size();
  put(out, symbol);
  const std::uint64_t strings = out.size();
  out += names;
  Elf64_Phdr note_segment, load{};
  std::memcpy(&note_segment, out.data() + sizeof header, sizeof note_segment);
  load.p_type = PT_LOAD;
  load.p_offset = at;
  load.p_vaddr = at + 0x1000;
  load.p_filesz = 64;
  header.e_phoff = out.size();
  header.e_phnum = 2;
  put(out, note_segment);
  put(out, load);
  Elf64_Shdr table{}, text_table{};
  table.sh_type = SHT_DYNSYM;
  table.sh_offset = symbols;
  table.sh_size = sizeof symbol;
  table.sh_link = 1;
  text_table.sh_type = SHT_STRTAB;
  text_table.sh_offset = strings;
  text_table.sh_size = names.size();
  header.e_shoff = out.size();
  header.e_shentsize = sizeof table;
  header.e_shnum = 2;
  put(out, table);
  put(out, text_table);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

inline std::string bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string head = "__CLANG_OFFLOAD_BUNDLE__", content;
  put(head, std::uint64_t{entries.size()});
  std::size_t size = head.size();
  for (const auto& [triple, object] : entries) size += 24 + triple.size();
  for (const auto& [triple, object] : entries) {
    put(head, std::uint64_t{size + content.size()});
    put(head, std::uint64_t{object.size()});
    put(head, std::uint64_t{triple.size()});
    head += triple;
    content += object;
  }
  return head + content;
}

// As LLVM numbers them.
enum class Method : std::uint16_t { Zlib, Zstd };

inline std::string compressed(Method method, std::string_view content) {
  std::string out(::compressBound(content.size()) + ::ZSTD_compressBound(content.size()), '\0');
  if (method == Method::Zlib) {
    uLongf size = out.size();
    if (::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
                    content.size(), 6) != Z_OK)
      throw std::runtime_error("zlib");
    out.resize(size);
  } else {
    const std::size_t size = ::ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 3);
    if (::ZSTD_isError(size)) throw std::runtime_error("zstd");
    out.resize(size);
  }
  return out;
}

// The compressed bundle as clang's versions 1, 2 and 3 write it; its hash is that of nothing.
inline std::string with_header(std::uint16_t version, Method method, std::uint64_t unpacked,
                               const std::string& content) {
  std::string out = "CCOB";
  put(out, version);
  put(out, static_cast<std::uint16_t>(method));
  const std::uint64_t hash = 0x0123456789abcdef;
  if (version == 3) {
    put(out, std::uint64_t{32 + content.size()});
    put(out, unpacked);
  } else {
    if (version == 2) put(out, static_cast<std::uint32_t>(24 + content.size()));
    put(out, static_cast<std::uint32_t>(unpacked));
  }
  put(out, hash);
  return out + content;
}
inline std::string packed(std::uint16_t version, Method method, const std::string& content) {
  return with_header(version, method, content.size(), compressed(method, content));
}

}  // namespace fade::elf::test
