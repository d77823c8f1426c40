#include "store/call_view.hpp"

#include <cstring>

#include "probes/decode.hpp"
#include "probes/types.hpp"

namespace fade::store {

using probes::TypeClass;

namespace {

void append_utf8(std::string& to, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const auto rest = [&](unsigned shift) { to += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | c >> 6);
    rest(0);
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0 | c >> 12);
    rest(6);
    rest(0);
  } else {
    to += static_cast<char>(0xf0 | c >> 18);
    rest(12);
    rest(6);
    rest(0);
  }
}

// wchar_t, up to its end; or to the end of the read bytes, with a mark.
std::string narrowed(std::span<const std::byte> wide) {
  std::string out;
  for (std::uint32_t c; wide.size() >= sizeof c; wide = wide.subspan(sizeof c)) {
    std::memcpy(&c, wide.data(), sizeof c);
    if (c == 0) return out;
    append_utf8(out, c);
  }
  return out += probes::kCutMark;
}

}  // namespace

std::optional<std::string> CallView::text(probes::Role role) const {
  const probes::Parameter* parameter = probe.with_role(role);
  if (!parameter) return std::nullopt;
  return probes::string_argument(probe, *parameter, record, payload);
}

std::optional<std::string> CallView::message() const {
  if (auto narrow = text(probes::Role::RangeName)) return narrow;
  const probes::Parameter* parameter = probe.with_role(probes::Role::RangeName);
  if (!parameter) return std::nullopt;
  if (const auto given = piece(PieceKind::ReturnedString, probes::index_of(probe, *parameter)))
    return std::string(reinterpret_cast<const char*>(given->bytes.data()), given->bytes.size()) +
           (given->header.cut ? std::string(probes::kCutMark) : std::string());
  const auto wide = piece(PieceKind::In, probes::index_of(probe, *parameter));
  if (!wide) return std::nullopt;
  return narrowed(wide->bytes);
}

ResultWord ResultWord::of(const probes::Type& type) {
  if (type.cls == TypeClass::Void) return {.is_void = true};
  if (type.size == 0 || type.size >= 8) return {};
  const bool is_signed = type.cls == TypeClass::Signed || type.cls == TypeClass::Enum || type.cls == TypeClass::Char;
  return {.shift = static_cast<std::uint8_t>(64 - type.size * 8), .is_signed = is_signed};
}

std::string CallView::result_name() const {
  if (probe.returns_sse()) return probes::result_text(probe, record.result, library_major);
  if (returns_text()) return probes::returned_text(payload);
  if (probe.result.cls != TypeClass::Enum) return {};
  const auto name = probes::types_of(probe).enum_name(probe.result.name, result(), probes::version_of(library_major));
  return name ? std::string(*name) : std::string();
}

}  // namespace fade::store
