#include "probes/device_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "probes/device_properties_rows.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

using device_rows::FieldRow;

// Size and alignment of one element (System V x86-64 ABI, 3.1.2).
constexpr std::uint32_t width_of(FieldType type) {
  constexpr std::uint32_t kWidths[] = {1, 1, 4, 4, 8, 8, 4};
  return kWidths[static_cast<std::size_t>(type)];
}
constexpr bool is_one_value(FieldType type) { return type == FieldType::Text || type == FieldType::Bytes; }
constexpr std::uint32_t aligned(std::uint32_t at, std::uint32_t to) { return (at + to - 1) / to * to; }

template <std::size_t n>
consteval std::array<PropertyField, n> placed(const FieldRow (&rows)[n]) {
  std::array<PropertyField, n> fields;
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const FieldRow& row = rows[i];
    at = aligned(at, width_of(row.type));
    fields[i] = {row.name, row.type, is_one_value(row.type) ? 1 : row.n, at, width_of(row.type) * row.n};
    at += fields[i].size;
  }
  return fields;
}

template <std::size_t n>
consteval std::uint32_t struct_size(const std::array<PropertyField, n>& fields) {
  return aligned(fields[n - 1].offset + fields[n - 1].size, 8);  // the widest member is a size_t
}

constexpr auto kFieldsR0000 = placed(device_rows::kR0000);
constexpr auto kFieldsR0600 = placed(device_rows::kR0600);
static_assert(struct_size(kFieldsR0000) == 792);
static_assert(struct_size(kFieldsR0600) == 1472);

// Bytes of the UTF-8 character at the beginning of `text`; 0 if the character must be escaped for a terminal.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f && first != '\\' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF, and the control characters U+0080 to U+009F.
  const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f) || first > 0xf4 ||
                     (first == 0xc2 && byte(1) < 0xa0);
  return wrong ? 0 : length;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes) out += fmt::format("{:02x}", static_cast<unsigned>(b));
  return out;
}

std::string one_text(FieldType type, std::span<const std::byte> bytes) {
  switch (type) {
    case FieldType::Text: {
      const auto* text = reinterpret_cast<const char*>(bytes.data());
      return escaped({text, ::strnlen(text, bytes.size())});
    }
    case FieldType::Bytes: return hex(bytes);
    case FieldType::Int: return std::to_string(static_cast<std::int32_t>(load_word(bytes)));
    case FieldType::Unsigned: return std::to_string(static_cast<std::uint32_t>(load_word(bytes)));
    case FieldType::Size: return std::to_string(load_word(bytes));
    case FieldType::Pointer: return fmt::format("{:#x}", load_word(bytes));
    case FieldType::Bits: return fmt::format("{:#x}", static_cast<std::uint32_t>(load_word(bytes)));
  }
  return {};
}

void add_bits(const PropertyField& field, std::uint32_t word, std::vector<Property>& out) {
  for (std::size_t bit = 0; bit < std::size(device_rows::kArchBits); ++bit) {
    out.push_back({fmt::format("{}.{}", field.name, device_rows::kArchBits[bit]), (word >> bit & 1) ? "1" : "0"});
  }
}

bool is_idle_reserve(const PropertyField& field, std::span<const std::byte> bytes) {
  return (field.name == "reserved" || field.name == "hipReserved") &&
         std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

const PropertyField* Layout::find(std::string_view field) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const PropertyField& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

const Layout& layout_r0000() {
  static constexpr Layout kLayout{"hipDeviceProp_tR0000", 792, kFieldsR0000};
  return kLayout;
}

const Layout& layout_r0600() {
  static constexpr Layout kLayout{"hipDeviceProp_tR0600", 1472, kFieldsR0600};
  return kLayout;
}

std::span<const std::string_view> arch_bit_names() { return device_rows::kArchBits; }

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length > 0) {
      out += text.substr(0, length);
    } else if (text[0] == '\\') {
      out += "\\\\";
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string text_of(FieldType type, std::uint32_t count, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  if (count <= 1) return one_text(type, bytes);
  const std::size_t width = bytes.size() / count;
  std::string out = "[";
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += one_text(type, bytes.subspan(i * width, width));
  }
  return out + ']';
}

std::vector<Property> decode(const Layout& layout, std::span<const std::byte> bytes) {
  std::vector<Property> out;
  for (const PropertyField& field : layout.fields) {
    if (field.offset + field.size > bytes.size()) continue;
    const auto value = bytes.subspan(field.offset, field.size);
    if (is_idle_reserve(field, value)) continue;
    if (field.type == FieldType::Bits) {
      add_bits(field, static_cast<std::uint32_t>(load_word(value)), out);
    } else {
      out.push_back({std::string(field.name), text_of(field.type, field.count, value)});
    }
  }
  return out;
}

}  // namespace fade::probes
