// One call of a batch while it is stored: its record, its pieces, and the questions that probes/ answers about them.
// Lives no longer than the batch.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/event.hpp"
#include "probes/arguments.hpp"
#include "probes/call_facts.hpp"
#include "probes/copy_block.hpp"
#include "probes/decode.hpp"

namespace fade::store {

// Where in the register of results a function's number is.
struct ResultWord {
  std::uint8_t shift = 0;
  bool is_signed = false, is_void = false;

  static ResultWord of(const probes::Type& type);
  // The word as the signed or unsigned number of the result's size; 0 for void.
  std::int64_t value(std::uint64_t word) const {
    if (is_void) return 0;
    const std::uint64_t top = word << shift;
    return is_signed ? static_cast<std::int64_t>(top) >> shift : static_cast<std::int64_t>(top >> shift);
  }
};

struct CallView {
  const probes::Probe& probe;
  const CallRecord& record;
  probes::Payload payload;
  int library_major = 0;

  std::optional<std::uint64_t> value(probes::Role role) const {
    return probes::value_with_role(probe, role, record, payload);
  }
  std::optional<probes::LaunchShape> launch_shape() const { return probes::launch_shape(probe, record, payload); }
  std::optional<std::uint64_t> bytes() const { return probes::byte_count(probe, record, payload); }
  std::optional<int> copy_kind() const { return probes::copy_kind(probe, record, payload); }
  std::optional<probes::CopyBlock> copy_block() const {
    return probes::copy_block(probe, record, payload, library_major);
  }
  std::optional<probes::Piece> piece(PieceKind kind, std::size_t param) const {
    return probes::find_piece(payload, kind, param);
  }
  std::optional<std::string> text(probes::Role role) const;
  // The program's text for a range or mark. nullopt if the text could not be read.
  std::optional<std::string> message() const;
  std::string args_json() const { return probes::args_json(probe, record, payload, library_major); }
  std::int64_t result() const { return ResultWord::of(probe.result).value(record.result); }
  // Empty if the result's type has no name for it, and is not a text that was read.
  std::string result_name() const;
  bool returns_text() const { return probe.result.cls == probes::TypeClass::CString; }
};

}  // namespace fade::store
