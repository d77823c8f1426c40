#include "probes/arguments.hpp"

#include <algorithm>
#include <cstring>

#include "probes/types.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

constexpr int kDeepest = 4;  // structs within structs that are searched for a role

// As much of a value as anyone asks for: a dim3 or a pointer.
struct Found {
  Type type;
  std::array<std::byte, 16> bytes{};
  std::size_t size = 0;

  void set(const Type& t, std::span<const std::byte> from) {
    type = t;
    size = std::min({from.size(), bytes.size(), std::size_t{t.size}});
    std::copy_n(from.begin(), size, bytes.begin());
  }
  std::uint64_t word() const { return load_word(std::span(bytes).first(std::min<std::size_t>(size, 8))); }
};

Dim3 to_dim3(std::span<const std::byte> bytes) {
  Dim3 out;
  if (bytes.size() < 12) return out;
  std::memcpy(&out.x, bytes.data(), 4);
  std::memcpy(&out.y, bytes.data() + 4, 4);
  std::memcpy(&out.z, bytes.data() + 8, 4);
  return out;
}

bool find_field(const Types& types, const Type& type, std::span<const std::byte> bytes, Role role, int depth, Found& found) {
  const TypeDeclaration* declaration = type.cls == TypeClass::Struct ? types.find(type.name) : nullptr;
  if (!declaration) return false;
  const auto part = [&](const Field& field) {
    return field.offset < bytes.size() ? bytes.subspan(field.offset) : std::span<const std::byte>{};
  };
  for (const Field& field : declaration->fields) {
    if (field.role != role || part(field).size() < field.type.size) continue;
    found.set(field.type, part(field));
    return true;
  }
  for (const Field& field : declaration->fields)
    if (depth > 0 && find_field(types, field.type, part(field), role, depth - 1, found)) return true;
  return false;
}

enum class Where { Anywhere, AtReturn };

// What a pointer parameter led to, as it was first seen.
std::span<const std::byte> pointed_to(const Probe& probe, const Parameter& parameter, Payload payload, Where where) {
  const std::size_t index = index_of(probe, parameter);
  if (parameter.read_at_entry() && where == Where::Anywhere)
    if (const auto piece = find_piece(payload, PieceKind::In, index)) return piece->bytes;
  if (parameter.read_at_return())
    if (const auto piece = find_piece(payload, PieceKind::Out, index)) return piece->bytes;
  return {};
}

bool find_role(const Probe& probe, Role role, const CallRecord& record, Payload payload, Where where, Found& found) {
  for (const Parameter& parameter : probe.parameters) {
    if (parameter.role != role) continue;
    if (parameter.pointee.cls != TypeClass::Void) {
      const auto bytes = pointed_to(probe, parameter, payload, where);
      if (bytes.size() < parameter.pointee.size) continue;
      found.set(parameter.pointee, bytes);
      return true;
    }
    if (where == Where::AtReturn) continue;
    found.type = parameter.type;
    found.size = argument_bytes(parameter, record, payload, std::span(found.bytes).first(std::min<std::size_t>(parameter.type.size, 16)));
    return found.size > 0;
  }
  const Types& types = types_of(probe);
  for (const Parameter& parameter : probe.parameters) {
    if (parameter.pointee.cls == TypeClass::Struct) {
      if (find_field(types, parameter.pointee, pointed_to(probe, parameter, payload, where), role, kDeepest, found)) return true;
    } else if (parameter.type.cls == TypeClass::Struct && where == Where::Anywhere) {
      std::array<std::byte, 256> buffer;
      const std::size_t size = argument_bytes(parameter, record, payload, std::span(buffer).first(std::min<std::size_t>(parameter.type.size, buffer.size())));
      if (find_field(types, parameter.type, std::span<const std::byte>(buffer).first(size), role, kDeepest, found)) return true;
    }
  }
  return false;
}

std::span<const std::byte> location_bytes(const Location& at, const CallRecord& record, Payload payload) {
  if (at.where == Location::Where::Integer)
    return std::as_bytes(std::span(record.words)).subspan(std::min<std::size_t>(at.first, record.words.size()) * 8);
  const auto piece = find_piece(payload, at.where == Location::Where::Sse ? PieceKind::Sse : PieceKind::Stack);
  if (!piece || piece->bytes.size() < std::size_t{at.first} * 8) return {};
  return piece->bytes.subspan(std::size_t{at.first} * 8);
}

}  // namespace

std::optional<Piece> find_piece(Payload payload, PieceKind kind, std::size_t param) {
  std::optional<Piece> found;
  for_each_piece(payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
    if (!found && header.kind == kind && header.param == param) found = Piece{header, bytes};
  });
  return found;
}

std::size_t index_of(const Probe& probe, const Parameter& parameter) {
  return static_cast<std::size_t>(&parameter - probe.parameters.data());
}

std::size_t argument_bytes(const Parameter& parameter, const CallRecord& record, Payload payload, std::span<std::byte> into) {
  const auto from = location_bytes(parameter.at, record, payload);
  const std::size_t size = std::min(into.size(), from.size());
  if (size) std::memcpy(into.data(), from.data(), size);
  return size;
}

std::uint64_t argument(const Probe&, const Parameter& parameter, const CallRecord& record, Payload payload) {
  const std::uint32_t size = std::min<std::uint32_t>(parameter.type.size, 8);
  if (parameter.at.where == Location::Where::Integer && parameter.at.first < record.words.size()) {
    const std::uint64_t word = record.words[parameter.at.first];
    return size == 8 ? word : word & ((std::uint64_t{1} << 8 * size) - 1);
  }
  const auto from = location_bytes(parameter.at, record, payload);
  return load_word(from.first(std::min<std::size_t>(from.size(), size)));
}

Dim3 dim3_argument(const Probe& probe, const Parameter& parameter, const CallRecord& record, Payload payload) {
  if (parameter.pointee.cls == TypeClass::Dim3) return to_dim3(pointed_to(probe, parameter, payload, Where::Anywhere));
  std::array<std::byte, 12> bytes;
  return to_dim3(std::span(bytes).first(argument_bytes(parameter, record, payload, bytes)));
}

std::optional<std::string> string_argument(const Probe& probe, const Parameter& parameter, const CallRecord&, Payload payload) {
  const auto piece = find_piece(payload, PieceKind::String, index_of(probe, parameter));
  if (!piece || piece->header.unreadable) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size());
}

std::optional<std::uint64_t> value_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  Found found;
  if (!find_role(probe, role, record, payload, Where::Anywhere, found)) return std::nullopt;
  return found.word();
}

std::optional<Dim3> dim3_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  Found found;
  if (!find_role(probe, role, record, payload, Where::Anywhere, found) || found.size < 12) return std::nullopt;
  return to_dim3(found.bytes);
}

std::size_t bytes_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload, std::span<std::byte, 16> into) {
  Found found;
  if (!find_role(probe, role, record, payload, Where::Anywhere, found)) return 0;
  std::copy_n(found.bytes.begin(), found.size, into.begin());
  return found.size;
}

std::optional<std::uint64_t> out_value(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  Found found;
  if (!find_role(probe, role, record, payload, Where::AtReturn, found)) return std::nullopt;
  return found.word();
}

}  // namespace fade::probes
