#include "elf/code_object.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "elf/msgpack.hpp"

namespace fade::elf {
namespace {

constexpr std::uint16_t kAmdGpu = 224;          // EM_AMDGPU
constexpr std::uint32_t kMetadataNote = 32;     // NT_AMDGPU_METADATA, code objects of version 3 and later
constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__", kCompressed = "CCOB";
constexpr std::size_t kMostHeaders = 64, kMostEntries = 1024, kMostTriple = 256;
constexpr std::uint64_t kImageAlignment = 4096;  // of images in .hip_fatbin

std::string arch_of(std::string_view target) {
  const std::size_t at = target.rfind("--");  // hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-
  if (at != std::string_view::npos) target.remove_prefix(at + 2);
  return std::string(target.substr(0, target.find(':')));
}

bool begins_with(const Memory& memory, RemoteAddr at, std::string_view magic) {
  std::array<char, 24> bytes{};
  const auto into = std::as_writable_bytes(std::span(bytes).first(magic.size()));
  return memory.read_exactly(at, into) && std::string_view(bytes.data(), magic.size()) == magic;
}

CodeObject failed(std::string arch, std::string problem) { return {std::move(arch), {}, std::move(problem), {}}; }

// The metadata note of those in a segment: {sizes of name and content, type}, name, content, each padded to 4 bytes.
std::optional<std::span<const std::byte>> metadata_note(std::span<const std::byte> notes) {
  Elf64_Nhdr header;
  const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::uint64_t name = padded(header.n_namesz);
    if (name > notes.size() || header.n_descsz > notes.size() - name) return std::nullopt;
    const bool is_amd = header.n_namesz == 7 && std::memcmp(notes.data(), "AMDGPU", 7) == 0;
    if (is_amd && header.n_type == kMetadataNote) return notes.subspan(name, header.n_descsz);
    notes = notes.subspan(std::min<std::uint64_t>(notes.size(), name + padded(header.n_descsz)));
  }
  return std::nullopt;
}

CodeObject read_elf(const Memory& memory, RemoteAddr at, std::string arch, std::size_t most_bytes) {
  const auto header = memory.value<Elf64_Ehdr>(at);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return failed(std::move(arch), "not a code object");
  if (header->e_machine != kAmdGpu || header->e_phentsize != sizeof(Elf64_Phdr)) return failed(std::move(arch), "not a code object of AMD's");
  for (std::size_t i = 0; i < std::min<std::size_t>(header->e_phnum, kMostHeaders); ++i) {
    const auto segment = memory.value<Elf64_Phdr>(at + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE) continue;
    if (segment->p_filesz > most_bytes) return failed(std::move(arch), "its description is too large to be read");
    std::vector<std::byte> notes(segment->p_filesz);
    notes.resize(memory.read(at + segment->p_offset, notes));
    if (const auto note = metadata_note(notes))
      return {std::move(arch), {note->begin(), note->end()}, {}, read_kernel_modes(memory, at, *header, most_bytes)};
  }
  return failed(std::move(arch), "it does not describe its kernels");
}

struct BundleEntry {
  std::uint64_t offset = 0, size = 0;
  std::string triple;
};

struct Bundle {
  std::vector<BundleEntry> entries;
  std::uint64_t end = 0;  // of the header and of what the entries hold, from the bundle's begin
};

Bundle read_bundle(const Memory& memory, RemoteAddr at) {
  Bundle out;
  const auto count = memory.value<std::uint64_t>(at + kBundle.size());
  RemoteAddr next = at + kBundle.size() + 8;
  for (std::size_t i = 0; count && i < std::min<std::uint64_t>(*count, kMostEntries); ++i) {
    const auto fixed = memory.value<std::array<std::uint64_t, 3>>(next);
    if (!fixed || (*fixed)[2] > kMostTriple) break;
    BundleEntry entry{(*fixed)[0], (*fixed)[1], std::string((*fixed)[2], '\0')};
    if (!memory.read_exactly(next + sizeof *fixed, std::as_writable_bytes(std::span(entry.triple)))) break;
    next = next + sizeof *fixed + entry.triple.size();
    if (entry.offset + entry.size < entry.offset) break;
    out.end = std::max(out.end, entry.offset + entry.size);
    out.entries.push_back(std::move(entry));
  }
  out.end = std::max(out.end, next - at);
  return out;
}

// Of a compressed image, from version 2 on. 0: not told.
std::uint64_t compressed_size(const Memory& memory, RemoteAddr at) {
  const auto version = memory.value<std::uint16_t>(at + 4);
  if (version == 2) return memory.value<std::uint32_t>(at + 8).value_or(0);
  return version == 3 ? memory.value<std::uint64_t>(at + 8).value_or(0) : 0;
}

struct NamedNumber {
  std::string_view key;
  KernelCode::Number KernelCode::*field;
};
constexpr NamedNumber kNumbers[] = {
    {".vgpr_count", &KernelCode::vgprs},
    {".agpr_count", &KernelCode::agprs},
    {".sgpr_count", &KernelCode::sgprs},
    {".vgpr_spill_count", &KernelCode::vgpr_spills},
    {".sgpr_spill_count", &KernelCode::sgpr_spills},
    {".group_segment_fixed_size", &KernelCode::lds},
    {".private_segment_fixed_size", &KernelCode::scratch},
    {".kernarg_segment_size", &KernelCode::kernarg},
    {".wavefront_size", &KernelCode::wave_size},
    {".max_flat_workgroup_size", &KernelCode::max_threads},
    {".workgroup_processor_mode", &KernelCode::wgp_mode},
    {".uses_dynamic_stack", &KernelCode::dynamic_stack},
};

// False: damaged.
bool read_field(MsgReader& reader, std::string_view key, KernelCode& kernel) {
  const auto* row = std::ranges::find(kNumbers, key, &NamedNumber::key);
  if (key != ".name" && row == std::end(kNumbers)) return reader.skip();
  const MsgReader before = reader;
  const auto item = reader.next();
  if (!item) return false;
  if (item->kind == MsgItem::Kind::Text && key == ".name") kernel.name = item->text;
  if (item->kind == MsgItem::Kind::Number && key != ".name") kernel.*(row->field) = static_cast<std::int64_t>(item->number);
  if (item->kind != MsgItem::Kind::Array && item->kind != MsgItem::Kind::Map) return true;
  reader = before;
  return reader.skip();
}

bool read_kernels(MsgReader& reader, std::vector<KernelCode>& out) {
  const auto list = reader.next();
  if (!list || list->kind != MsgItem::Kind::Array) return false;
  for (std::uint64_t i = 0; i < list->number; ++i) {
    const auto fields = reader.next();
    if (!fields || fields->kind != MsgItem::Kind::Map) return false;
    KernelCode kernel;
    for (std::uint64_t f = 0; f < fields->number; ++f) {
      const auto key = reader.next();
      if (!key || key->kind != MsgItem::Kind::Text || !read_field(reader, key->text, kernel)) return false;
    }
    if (!kernel.name.empty()) out.push_back(std::move(kernel));
  }
  return true;
}

void append_text(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const auto head = std::as_bytes(std::span(&size, 1));
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::optional<std::span<const std::byte>> take_text(std::span<const std::byte>& bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (size > bytes.size()) return std::nullopt;
  const auto out = bytes.first(size);
  bytes = bytes.subspan(size);
  return out;
}

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::vector<KernelMode> modes_of(std::string_view packed) {
  std::vector<KernelMode> out;
  while (packed.size() > 1) {
    const std::string_view one = packed.substr(0, packed.find('\0'));
    if (!one.empty()) out.push_back({std::string(one.substr(1)), one[0] == '1'});
    packed.remove_prefix(std::min(packed.size(), one.size() + 1));
  }
  return out;
}

// gfx10 and later; before, a multiprocessor is one compute unit and the bit means something else.
bool has_wgps(std::string_view arch) { return arch.size() == 7 && arch.starts_with("gfx1"); }

}  // namespace

CodeMetadata decode_metadata(std::span<const std::byte> note) {
  CodeMetadata out;
  MsgReader reader(note);
  const auto top = reader.next();
  if (!top || top->kind != MsgItem::Kind::Map) return out;
  for (std::uint64_t i = 0; i < top->number; ++i) {
    const auto key = reader.next();
    if (!key || key->kind != MsgItem::Kind::Text) return out;
    if (key->text == "amdhsa.kernels") {
      if (!read_kernels(reader, out.kernels)) return out;
    } else if (key->text == "amdhsa.target") {
      const auto target = reader.next();
      if (!target || target->kind != MsgItem::Kind::Text) return out;
      out.arch = arch_of(target->text);
    } else if (!reader.skip()) {
      return out;
    }
  }
  return out;
}

std::vector<CodeObject> read_code_objects(const Memory& memory, RemoteAddr image, const CodeLimits& limits) {
  std::vector<CodeObject> out;
  if (begins_with(memory, image, kCompressed)) return {failed({}, "compressed")};
  if (begins_with(memory, image, ELFMAG)) return {read_elf(memory, image, {}, limits.bytes)};
  if (!begins_with(memory, image, kBundle)) return out;
  std::size_t left = limits.bytes;
  for (BundleEntry& entry : read_bundle(memory, image).entries) {
    if (entry.size == 0 || entry.triple.find("amdgcn") == std::string::npos) continue;  // the host's
    if (out.size() == limits.objects) break;
    out.push_back(read_elf(memory, image + entry.offset, arch_of(entry.triple), left));
    left -= out.back().metadata.size();
  }
  return out;
}

void each_code_object(const Memory& memory, RemoteRange section, const CodeLimits& limits, const std::function<void(CodeObject)>& visit) {
  CodeLimits left = limits;
  for (RemoteAddr at = section.begin; at < section.end && left.objects > 0;) {
    std::uint64_t size = kImageAlignment;
    for (CodeObject& object : read_code_objects(memory, at, left)) {
      --left.objects;
      left.bytes -= object.metadata.size();
      visit(std::move(object));
    }
    if (begins_with(memory, at, kBundle)) size = std::max(size, read_bundle(memory, at).end);
    if (begins_with(memory, at, kCompressed)) size = std::max(size, compressed_size(memory, at));
    if (size > section.end - at) return;
    at = at + (size + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  }
}

CodeMetadata describe(const CodeObject& object) {
  CodeMetadata out = decode_metadata(object.metadata);
  if (!object.arch.empty()) out.arch = object.arch;
  if (!has_wgps(out.arch)) return out;
  std::map<std::string_view, bool> modes;
  for (const KernelMode& mode : object.modes) modes[mode.name] = mode.wgp;
  for (KernelCode& kernel : out.kernels)
    if (const auto mode = modes.find(kernel.name); mode != modes.end() && !kernel.wgp_mode) kernel.wgp_mode = mode->second;
  return out;
}

std::vector<std::byte> pack(const std::vector<CodeObject>& objects) {
  std::vector<std::byte> out;
  for (const CodeObject& object : objects) {
    append_text(out, std::as_bytes(std::span(object.arch)));
    append_text(out, std::as_bytes(std::span(object.problem)));
    append_text(out, object.metadata);
    std::string modes;
    for (const KernelMode& mode : object.modes) modes += (mode.wgp ? '1' : '0') + mode.name + '\0';
    append_text(out, std::as_bytes(std::span(modes)));
  }
  return out;
}

std::vector<CodeObject> unpack(std::span<const std::byte> bytes) {
  std::vector<CodeObject> out;
  for (;;) {
    const auto arch = take_text(bytes), problem = take_text(bytes), metadata = take_text(bytes), modes = take_text(bytes);
    if (!arch || !problem || !metadata || !modes) return out;
    out.push_back({text_of(*arch), {metadata->begin(), metadata->end()}, text_of(*problem), modes_of(text_of(*modes))});
  }
}

}  // namespace fade::elf
