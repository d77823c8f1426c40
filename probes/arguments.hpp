// The words of a call record as the values of its parameters. A part that the payload lacks reads as 0 or as nothing.
// No memory of the tracee is read, and only texts are allocated.
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

// The value of the parameter itself, zero-extended from its size. A pointer gives the address; a struct or dim3 gives
// the first 8 bytes.
std::uint64_t argument(const Probe& probe, const Parameter& parameter, const CallRecord& record, Payload payload);
// The bytes of the parameter as they lay in registers or on the stack. Returns the number of bytes filled in `into`.
std::size_t argument_bytes(const Parameter& parameter, const CallRecord& record, Payload payload,
                           std::span<std::byte> into);
// Follows every text that was longer than the bytes read of it (FORMAT.md).
inline constexpr std::string_view kCutMark = "...";
// The text behind a const char *, with kCutMark if it was cut. Empty for NULL and for unreadable memory.
std::optional<std::string> string_argument(const Probe& probe, const Parameter& parameter, const CallRecord& record,
                                           Payload payload);

// The value with this role: a parameter by value, the target of a pointer, or a field of a struct. Parameters are
// searched before fields.
std::optional<std::uint64_t> value_elsewhere(const Probe& probe, Role role, const CallRecord& record, Payload payload);
inline std::optional<std::uint64_t> value_with_role(const Probe& probe, Role role, const CallRecord& record,
                                                    Payload payload) {
  const RoleWord& known = probe.word(role);
  if (known.in == RoleWord::In::Register) return record.words[known.word] & known.mask;
  if (known.in == RoleWord::In::Nowhere) return std::nullopt;
  return value_elsewhere(probe, role, record, payload);
}
std::optional<Dim3> dim3_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload);
// The first bytes of the value with this role, at most 16. Returns their number.
std::size_t bytes_with_role(const Probe& probe, Role role, const CallRecord& record, Payload payload,
                            std::span<std::byte, 16> into);
// The value with this role as it was read at return, before any override: the address that hipMalloc gave.
std::optional<std::uint64_t> out_value(const Probe& probe, Role role, const CallRecord& record, Payload payload);

}  // namespace fade::probes
