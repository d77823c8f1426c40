#include "probes/arguments.hpp"

#include <algorithm>
#include <cstring>

#include "probes/types.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

using Bytes = std::span<const std::byte>;

Dim3 to_dim3(Bytes bytes) {
  Dim3 out;
  if (bytes.size() < 12) return out;
  std::memcpy(&out.x, bytes.data(), 4);
  std::memcpy(&out.y, bytes.data() + 4, 4);
  std::memcpy(&out.z, bytes.data() + 8, 4);
  return out;
}

enum class Where { Anywhere, AtReturn };

// The bytes behind a pointer parameter, as they were first read.
Bytes pointed_to(const Probe& probe, const Parameter& parameter, Payload payload, Where where) {
  const std::size_t index = index_of(probe, parameter);
  if (parameter.read_at_entry() && where == Where::Anywhere)
    if (const auto piece = find_piece(payload, PieceKind::In, index)) return piece->bytes;
  if (parameter.read_at_return())
    if (const auto piece = find_piece(payload, PieceKind::Out, index)) return piece->bytes;
  return {};
}

// The word at [rsp+8], [rsp+16] and so on at entry.
std::optional<std::uint64_t> stack_word(Payload payload, std::size_t at) {
  const auto piece = find_piece(payload, PieceKind::Stack);
  std::uint64_t word;
  if (!piece || piece->bytes.size() < (at + 1) * sizeof word) return std::nullopt;
  std::memcpy(&word, piece->bytes.data() + at * sizeof word, sizeof word);
  return word;
}

inline Bytes location_bytes(const Location& at, const CallRecord& record, Payload payload) {
  if (at.where == Location::Where::Integer) {
    const std::size_t skipped = std::min<std::size_t>(at.first, record.words.size()) * 8;
    return {reinterpret_cast<const std::byte*>(record.words.data()) + skipped, sizeof record.words - skipped};
  }
  const auto piece = find_piece(payload, at.where == Location::Where::Sse ? PieceKind::Sse : PieceKind::Stack);
  if (!piece || piece->bytes.size() < std::size_t{at.first} * 8) return {};
  return piece->bytes.subspan(std::size_t{at.first} * 8);
}

// True if the value lies completely in registers.
bool in_registers(const RolePlace& place) {
  return !place.in_memory && place.at.where == Location::Where::Integer &&
         place.at.first * 8u + place.offset + place.size <= sizeof CallRecord::words;
}

// The value with that role; empty if there is none.
Bytes find_role(const Probe& probe, Role role, const CallRecord& record, Payload payload,
                Where where = Where::Anywhere) {
  for (const RolePlace& place : probe.places(role)) {
    if (where == Where::AtReturn && !place.in_memory) continue;
    if (place.size > 0 && in_registers(place))
      return std::as_bytes(std::span(record.words)).subspan(place.at.first * 8u + place.offset, place.size);
    const Bytes whole = place.in_memory ? pointed_to(probe, probe.parameters[place.parameter], payload, where)
                                        : location_bytes(place.at, record, payload);
    if (place.size > 0 && whole.size() >= std::size_t{place.offset} + place.size)
      return whole.subspan(place.offset, place.size);
  }
  return {};
}

std::optional<std::uint64_t> to_word(Bytes bytes) {
  if (bytes.empty()) return std::nullopt;
  std::uint64_t word;
  if (bytes.size() < sizeof word) return load_word(bytes);
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

}  // namespace

std::optional<Piece> find_piece(Payload payload, PieceKind kind, std::size_t param) {
  std::optional<Piece> found;
  for_each_piece(payload, [&](const PieceHeader& header, Bytes bytes) {
    if (!found && header.kind == kind && header.param == param) found = Piece{header, bytes};
  });
  return found;
}

std::size_t index_of(const Probe& probe, const Parameter& parameter) {
  return static_cast<std::size_t>(&parameter - probe.parameters.data());
}

std::size_t argument_bytes(const Parameter& parameter, const CallRecord& record, Payload payload,
                           std::span<std::byte> into) {
  const auto from = location_bytes(parameter.at, record, payload);
  const std::size_t size = std::min(into.size(), from.size());
  if (size) std::memcpy(into.data(), from.data(), size);
  return size;
}

std::uint64_t argument(const Probe&, const Parameter& parameter, const CallRecord& record, Payload payload) {
  const std::uint32_t size = std::min<std::uint32_t>(parameter.type.size, 8);
  const Bytes from = location_bytes(parameter.at, record, payload);
  return load_word(from.first(std::min<std::size_t>(from.size(), size)));
}

std::optional<std::string> string_argument(const Probe& probe, const Parameter& parameter, const CallRecord&,
                                           Payload payload) {
  const auto piece = find_piece(payload, PieceKind::String, index_of(probe, parameter));
  if (!piece || piece->header.unreadable) return std::nullopt;
  std::string out(reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size());
  if (piece->header.cut) out += kCutMark;
  return out;
}

std::optional<std::uint64_t> value_elsewhere(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  const RoleWord& known = probe.word(role);
  if (known.in == RoleWord::In::Stack)
    if (const auto word = stack_word(payload, known.word)) return *word & known.mask;
  return to_word(find_role(probe, role, record, payload));
}

std::optional<Dim3> dim3_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  const Bytes found = find_role(probe, role, record, payload);
  return found.size() < 12 ? std::nullopt : std::optional(to_dim3(found));
}

std::size_t bytes_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload,
                            std::span<std::byte, 16> into) {
  const Bytes found = find_role(probe, role, record, payload);
  const std::size_t size = std::min(found.size(), into.size());
  std::copy_n(found.begin(), size, into.begin());
  return size;
}

std::optional<std::uint64_t> out_value(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  return to_word(find_role(probe, role, record, payload, Where::AtReturn));
}

}  // namespace fade::probes
