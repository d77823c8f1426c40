// The words of a call record as the values of its parameters. What the payload lacks reads as 0 or as nothing; no
// memory is asked for, and nothing is allocated but for texts.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/event.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

// The pieces of one call: payload_at and payload_size of its record, cut out of the batch.
using Payload = std::span<const std::byte>;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

struct Piece {
  PieceHeader header;
  std::span<const std::byte> bytes;
};
std::optional<Piece> find_piece(Payload payload, PieceKind kind, std::size_t param = 0);

// `parameter` must be an element of probe.parameters.
std::size_t index_of(const Probe& probe, const Parameter& parameter);

// The value of the parameter itself (of a pointer: the address), zero-extended from its size; of a struct or dim3 the
// first 8 bytes.
std::uint64_t argument(const Probe& probe, const Parameter& parameter, const CallRecord& record, Payload payload);
// Its bytes as they lay in registers or on the stack; returns how many of into's could be filled.
std::size_t argument_bytes(const Parameter& parameter, const CallRecord& record, Payload payload, std::span<std::byte> into);
// A dim3 by value, or the one that a pointer led to.
Dim3 dim3_argument(const Probe& probe, const Parameter& parameter, const CallRecord& record, Payload payload);
// Stands behind every text that was longer than what is read of it (FORMAT.md).
inline constexpr std::string_view kCutMark = "...";
// The text a const char * led to, with the mark where it was cut; nothing for NULL and what could not be read.
std::optional<std::string> string_argument(const Probe& probe, const Parameter& parameter, const CallRecord& record, Payload payload);

// The value with this role, wherever it stands: a parameter by value, what a pointer led to, or a field of a struct
// of either kind. First parameters, then fields.
std::optional<std::uint64_t> value_elsewhere(const Probe& probe, Role role, const CallRecord& record, Payload payload);
inline std::optional<std::uint64_t> value_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload) {
  const RoleWord& known = probe.word(role);
  if (known.in == RoleWord::In::Register) return record.words[known.word] & known.mask;
  if (known.in == RoleWord::In::Nowhere) return std::nullopt;
  return value_elsewhere(probe, role, record, payload);
}
std::optional<Dim3> dim3_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload);
// The first bytes of that value, at most 16; returns how many there are.
std::size_t bytes_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload, std::span<std::byte, 16> into);
// The same among what was read at return only, before any override: the address that hipMalloc gave.
std::optional<std::uint64_t> out_value(const Probe& probe, Role role, const CallRecord& record, Payload payload);

}  // namespace fade::probes
