#include "probes/overrides/value.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "probes/overrides/spec.hpp"

namespace fade::probes {
namespace {

struct Range {
  const char* what;
  std::int64_t low;
  std::uint64_t high;
};

Range range_of(FieldType type) {
  constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();
  switch (type) {
    case FieldType::Int: return {"an int", std::numeric_limits<std::int32_t>::min(), 0x7fffffff};
    case FieldType::Unsigned: return {"an unsigned int", 0, 0xffffffff};
    case FieldType::Size: return {"a size_t", 0, kMax64};
    case FieldType::Pointer: return {"a pointer", 0, kMax64};
    case FieldType::Bits: return {"one bit", 0, 1};
    case FieldType::Text:
    case FieldType::Bytes: break;
  }
  return {"a number", 0, 0};
}

struct Number {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool too_large = false;  // beyond 64 bits
};

// Removes K, M, G or T (also KiB ...) from `text`. Returns the number of bits to shift; 0 without a suffix.
unsigned take_suffix(std::string_view& text) {
  std::string_view body = text;
  if (body.ends_with("iB")) body.remove_suffix(2);
  const std::size_t unit = body.empty() ? std::string_view::npos : std::string_view("KMGT").find(body.back());
  if (unit == std::string_view::npos) return 0;
  body.remove_suffix(1);
  text = body;
  return 10 * (static_cast<unsigned>(unit) + 1);
}

std::optional<Number> number_in(std::string_view text, unsigned shift) {
  Number out;
  if (text.starts_with('-')) out.negative = true, text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.magnitude, hex ? 16 : 10);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  out.too_large = error == std::errc::result_out_of_range || (out.magnitude << shift >> shift) != out.magnitude;
  out.magnitude <<= shift;
  return out;
}

bool fits(const Number& number, const Range& range) {
  if (number.too_large) return false;
  if (!number.negative) return number.magnitude <= range.high;
  return number.magnitude <= static_cast<std::uint64_t>(-range.low);
}

Result<std::uint64_t> one_number(const ValueShape& shape, std::string_view text) {
  std::string_view digits = text;
  const unsigned shift = take_suffix(digits);
  const auto number = number_in(digits, shift);
  if (!number) {
    return fail("", fmt::format("{}: expected a number, got '{}'", shape.name, escaped(text)),
                shape.in_bytes ? "write it like 17179869184, 0x400000000 or 16G" : "write it like 72 or 0x48");
  }
  if (shift != 0 && !shape.in_bytes) {
    return fail("", fmt::format("K, M, G and T are for amounts of bytes, and {} is none", shape.name),
                "write the number in full");
  }
  const Range range = range_of(shape.type);
  if (!fits(*number, range)) {
    return fail("", fmt::format("{} does not fit: {} is {}", escaped(text), shape.name, range.what),
                fmt::format("use a number from {} to {}", range.low, range.high));
  }
  return number->negative ? 0 - number->magnitude : number->magnitude;
}

// Little-endian, as the program's memory is.
void append(std::uint64_t value, std::size_t width, std::vector<std::byte>& out) {
  const std::size_t at = out.size();
  out.resize(at + width);
  std::memcpy(out.data() + at, &value, width);
}

Result<std::vector<std::byte>> list_value(const ValueShape& shape, std::string_view text) {
  const auto wrong = [&](std::string given) {
    return fail("", fmt::format("{} has {} elements, {}", shape.name, shape.count, given),
                fmt::format("write {0}=[A,B,...] with all of them, or {0}[0]=A for one", shape.name));
  };
  if (!text.starts_with('[') || !text.ends_with(']')) return wrong(fmt::format("and '{}' is no list", escaped(text)));
  text = text.substr(1, text.size() - 2);
  std::vector<std::byte> out;
  std::size_t given = 0;
  for (std::size_t at = 0; at <= text.size(); ++given) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto value = one_number(shape, trimmed(text.substr(at, comma - at)));
    if (!value) return tl::unexpected(value.error());
    append(*value, shape.element_size, out);
    at = comma + 1;
  }
  if (given != shape.count) return wrong(fmt::format("{} given", given == 1 ? "1 is" : fmt::format("{} are", given)));
  return out;
}

Result<std::vector<std::byte>> text_value(const ValueShape& shape, std::string_view text) {
  if (text.size() >= shape.element_size) {
    return fail("",
                fmt::format("the text has {} bytes; {} holds {} and a closing NUL", text.size(), shape.name,
                            shape.element_size - 1),
                "shorten it");
  }
  std::vector<std::byte> out(shape.element_size);
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

// HIP's uuid is the text after "GPU-" in other tools, as 16 characters without a NUL.
Result<std::vector<std::byte>> bytes_value(const ValueShape& shape, std::string_view text) {
  const std::string digits = fmt::format("write {} hexadecimal digits", 2 * shape.element_size);
  std::vector<std::byte> out;
  if (text.starts_with("GPU-") && text.size() == 4 + shape.element_size) {
    const auto characters = std::as_bytes(std::span(text).subspan(4));
    return std::vector<std::byte>(characters.begin(), characters.end());
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-') continue;
    std::uint8_t byte = 0;
    const auto pair = text.substr(i++, 2);
    const auto [end, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (error != std::errc{} || end - pair.data() != 2) {
      return fail("", fmt::format("'{}' is no row of bytes", escaped(text)), digits);
    }
    out.push_back(std::byte{byte});
  }
  if (out.size() == shape.element_size) return out;
  return fail("", fmt::format("{} has {} bytes, {} are given", shape.name, shape.element_size, out.size()), digits);
}

// All bits of the word at once; each becomes a byte.
Result<std::vector<std::byte>> bits_value(const ValueShape& shape, std::string_view text) {
  const auto word = one_number({shape.name, FieldType::Unsigned}, text);
  if (!word) return tl::unexpected(word.error());
  std::vector<std::byte> out;
  for (std::uint32_t bit = 0; bit < shape.count; ++bit) append(*word >> bit & 1, 1, out);
  return out;
}

}  // namespace

Result<std::vector<std::byte>> parse_value(const ValueShape& shape, std::string_view text, bool quoted) {
  if (shape.type == FieldType::Text) return text_value(shape, text);
  if (shape.type == FieldType::Bytes) return bytes_value(shape, text);
  if (quoted) return fail("", fmt::format("{} takes a number, not text", shape.name), "leave the quotes away");
  if (shape.type == FieldType::Bits && shape.count > 1) return bits_value(shape, text);
  if (shape.count > 1) return list_value(shape, text);
  const auto value = one_number(shape, text);
  if (!value) return tl::unexpected(value.error());
  std::vector<std::byte> out;
  append(*value, shape.element_size, out);
  return out;
}

std::string PciAddress::text() const {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<std::uint32_t>(domain), static_cast<std::uint32_t>(bus),
                     static_cast<std::uint32_t>(device), static_cast<std::uint32_t>(function));
}

Result<PciAddress> parse_pci_address(std::string_view text) {
  PciAddress out;
  struct Part {
    std::int32_t* value;
    char end;
  };
  const Part parts[] = {{&out.domain, ':'}, {&out.bus, ':'}, {&out.device, '.'}, {&out.function, '\0'}};
  const char* at = text.data();
  const char* const last = at + text.size();
  for (const Part& part : parts) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(at, last, number, 16);
    const bool closed = part.end == '\0' ? end == last : end != last && *end == part.end;
    if (error != std::errc{} || !closed) {
      return fail("", fmt::format("'{}' is no PCI address", escaped(text)),
                  "write it like 0000:0b:00.0; the bare numbers are pciDomainID, pciBusID and pciDeviceID");
    }
    *part.value = static_cast<std::int32_t>(number);
    at = end + 1;
  }
  return out;
}

}  // namespace fade::probes
