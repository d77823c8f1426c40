#include "elf/code_object.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "elf/msgpack.hpp"

namespace fade::elf {
namespace {

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

// Returns false if the data is damaged.
bool read_field(MsgReader& reader, std::string_view key, KernelCode& kernel) {
  const auto* row = std::ranges::find(kNumbers, key, &NamedNumber::key);
  if (key != ".name" && row == std::end(kNumbers)) return reader.skip();
  const MsgReader before = reader;
  const auto item = reader.next();
  if (!item) return false;
  if (item->kind == MsgItem::Kind::Text && key == ".name") kernel.name = item->text;
  if (item->kind == MsgItem::Kind::Number && key != ".name")
    kernel.*(row->field) = static_cast<std::int64_t>(item->number);
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

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<KernelMode> modes_of(std::string_view packed) {
  std::vector<KernelMode> out;
  while (packed.size() > 1) {
    const std::string_view one = packed.substr(0, packed.find('\0'));
    if (!one.empty()) out.push_back({std::string(one.substr(1)), one[0] == '1'});
    packed.remove_prefix(std::min(packed.size(), one.size() + 1));
  }
  return out;
}

// gfx10 and later. Before gfx10 a multiprocessor is one compute unit and the bit has another meaning.
bool has_wgps(std::string_view arch) { return arch.size() == 7 && arch.starts_with("gfx1"); }

}  // namespace

std::string arch_of(std::string_view target) {
  const std::size_t at = target.rfind("--");
  if (at != std::string_view::npos) target.remove_prefix(at + 2);
  return std::string(target.substr(0, target.find(':')));
}

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

CodeMetadata describe(const CodeObject& object) {
  CodeMetadata out = decode_metadata(object.metadata);
  if (!object.arch.empty()) out.arch = object.arch;
  if (!has_wgps(out.arch)) return out;
  std::map<std::string_view, bool> modes;
  for (const KernelMode& mode : object.modes) modes[mode.name] = mode.wgp;
  for (KernelCode& kernel : out.kernels)
    if (const auto mode = modes.find(kernel.name); mode != modes.end() && !kernel.wgp_mode)
      kernel.wgp_mode = mode->second;
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
    const auto arch = take_text(bytes), problem = take_text(bytes), metadata = take_text(bytes),
               modes = take_text(bytes);
    if (!arch || !problem || !metadata || !modes) return out;
    out.push_back({text_of(*arch), {metadata->begin(), metadata->end()}, text_of(*problem), modes_of(text_of(*modes))});
  }
}

}  // namespace fade::elf
