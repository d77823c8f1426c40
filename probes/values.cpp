#include "probes/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "probes/tensors.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kMostShown = 64;
constexpr std::size_t kMostBytes = 64;
constexpr int kDeepestShown = 6;  // structs within structs

template <class... A>
void append(std::string& out, fmt::format_string<A...> format, A&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<A>(values)...);
}

std::int64_t load_signed(std::span<const std::byte> bytes) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), 8);
  const unsigned spare = static_cast<unsigned>(64 - 8 * size);
  return size == 0 ? 0 : static_cast<std::int64_t>(load_word(bytes) << spare) >> spare;
}

// JSON readers take numbers for doubles or signed 64-bit integers, so larger numbers are written as text.
void append_unsigned(std::string& out, std::uint64_t value, Style style) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool quote = style == Style::Json && value > kLargest;
  append(out, "{0}{1}{0}", quote ? "\"" : "", value);
}

template <class T>
void append_real(std::string& out, T value, Style style) {
  if (std::isfinite(value)) {
    append(out, "{}", value);
  } else {
    append_word(out, fmt::format("{}", value), style);
  }
}

void append_address(std::string& out, std::uint64_t value, Style style) {
  append_word(out, fmt::format("{:#x}", value), style);
}

void append_char(std::string& out, std::span<const std::byte> bytes, Style style) {
  const std::int64_t value = load_signed(bytes);
  if (style == Style::Text && value >= 0x20 && value < 0x7f) {
    append(out, "'{}'", static_cast<char>(value));
  } else {
    append(out, "{}", value);
  }
}

void append_enum(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display) {
  const std::int64_t value = load_signed(bytes);
  if (const auto name = display.types.enum_name(type.name, value, display.version)) {
    append_word(out, *name, display.style);
  } else {
    append(out, "{}", value);
  }
}

void append_dim3(std::string& out, std::span<const std::byte> bytes, Style style) {
  const char* const form = style == Style::Json ? "[{},{},{}]" : "({}, {}, {})";
  const auto part = [&](std::size_t i) { return load_word(bytes.subspan(4 * i, 4)); };
  out += fmt::format(fmt::runtime(form), part(0), part(1), part(2));
}

void append_hex(std::string& out, std::span<const std::byte> bytes, Style style) {
  std::string text;
  for (const std::byte b : bytes.first(std::min(bytes.size(), kMostBytes)))
    append(text, "{:02x}", static_cast<unsigned>(b));
  if (bytes.size() > kMostBytes) append(text, "... ({} bytes)", bytes.size());
  append_word(out, text, style);
}

void append_any(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display,
                int depth);

void append_list(std::string& out, const Type& element, std::span<const std::byte> bytes, const Display& display,
                 int depth) {
  const std::size_t count = bytes.size() / element.size;
  const std::size_t shown = std::min(count, kMostShown);
  const std::string_view between = display.style == Style::Json ? "," : ", ";
  out += '[';
  for (std::size_t i = 0; i < shown; ++i) {
    if (i) out += between;
    append_any(out, element, bytes.subspan(i * element.size, element.size), display, depth);
  }
  if (shown < count) {
    out += between;
    append_word(out, fmt::format("... {} more", count - shown), display.style);
  }
  out += ']';
}

void append_array(std::string& out, const Type& element, std::span<const std::byte> bytes, const Display& display,
                  int depth) {
  if (element.cls == TypeClass::Char) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    append_quoted(out, {text, bytes.empty() ? 0 : ::strnlen(text, bytes.size())}, display.style);
  } else if (element.cls == TypeClass::Unsigned && element.size == 1) {
    append_hex(out, bytes, display.style);
  } else if (element.size == 0) {
    append_hex(out, bytes, display.style);
  } else {
    append_list(out, element, bytes, display, depth);
  }
}

void append_struct(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display,
                   int depth) {
  const TypeDeclaration* declaration = display.types.find(type.name);
  if (!declaration || declaration->fields.empty() || depth == 0) return append_hex(out, bytes, display.style);
  const bool is_json = display.style == Style::Json;
  out += '{';
  for (const Field& field : declaration->fields) {
    const std::size_t size = std::size_t{field.type.size} * field.count;
    if (field.offset + size > bytes.size()) continue;
    if (out.back() != '{') out += is_json ? "," : ", ";
    append_word(out, field.name, display.style);
    out += is_json ? ':' : '=';
    const auto part = bytes.subspan(field.offset, size);
    if (field.count > 1) {
      append_array(out, field.type, part, display, depth - 1);
    } else {
      append_any(out, field.type, part, display, depth - 1);
    }
  }
  out += '}';
}

void append_any(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display,
                int depth) {
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), type.size));
  if (bytes.size() < type.size) return append_word(out, "unreadable", display.style);
  switch (type.cls) {
    case TypeClass::Void: return append_word(out, "void", display.style);
    case TypeClass::Bool: out += load_word(bytes) ? "true" : "false"; return;
    case TypeClass::Char: return append_char(out, bytes, display.style);
    case TypeClass::Signed: return append(out, "{}", load_signed(bytes));
    case TypeClass::Unsigned:
    case TypeClass::Size: return append_unsigned(out, load_word(bytes), display.style);
    case TypeClass::Float:
      return append_real(out, std::bit_cast<float>(static_cast<std::uint32_t>(load_word(bytes))), display.style);
    case TypeClass::Double: return append_real(out, std::bit_cast<double>(load_word(bytes)), display.style);
    case TypeClass::Pointer:
    case TypeClass::Handle:
    case TypeClass::CString: return append_address(out, load_word(bytes), display.style);
    case TypeClass::Enum: return append_enum(out, type, bytes, display);
    case TypeClass::Flags:
      return append_word(out, display.types.flags_text(type.name, load_word(bytes), display.version), display.style);
    case TypeClass::Dim3: return append_dim3(out, bytes, display.style);
    case TypeClass::Struct: return append_struct(out, type, bytes, display, depth);
    case TypeClass::Tensor: return append_tensors_text(out, bytes, type.name, false, display.style);
    case TypeClass::Integers: return append_hex(out, bytes, display.style);
  }
}

}  // namespace

std::uint64_t load_word(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;  // x86-64: the low bytes come first
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), std::min<std::size_t>(bytes.size(), sizeof word));
  return word;
}

void append_value(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display) {
  append_any(out, type, bytes, display, kDeepestShown);
}

void append_elements(std::string& out, const Type& element, std::span<const std::byte> bytes, const Display& display) {
  append_array(out, element, bytes, display, kDeepestShown);
}

}  // namespace fade::probes
