#include "probes/decode.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "probes/tensors.hpp"
#include "probes/types.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

constexpr std::array<std::string_view, 6> kRegisters = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
constexpr std::size_t kLargestByValue = 512;

// The marks of a value: cut, unreadable, overridden.
struct Marks {
  bool cut = false;
  bool unreadable = false;
  bool overridden = false;
};

Marks append_string(std::string& out, const Piece& piece, Style style) {
  const bool cut = piece.header.cut;
  if (cut && style == Style::Json) out += "{\"cut\":";
  append_quoted(out, {reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size()}, style);
  if (cut) out += style == Style::Json ? "}" : "...";
  return {.cut = cut};
}

// The values of one call, written one at a time in one style.
class CallView {
 public:
  CallView(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor, Style style)
      : probe_(probe), record_(record), payload_(payload), display_{types_of(probe), version_of(major, minor), style} {}

  // The value as it was at entry: by value, as text, or the bytes behind the pointer.
  Marks append_entry(std::string& out, const Parameter& parameter) const {
    if (parameter.type.cls == TypeClass::CString) return append_text(out, parameter);
    if (parameter.read_at_entry())
      if (const auto piece = find(PieceKind::In, parameter)) return append_pointee(out, parameter, *piece);
    append_by_value(out, parameter);
    return {};
  }

  // The value as it was at return. The address is shown if nothing was read, or if the call failed. After a failed call
  // the memory still holds the old bytes, unless fade wrote them.
  Marks append_return(std::string& out, const Parameter& parameter) const {
    const auto was = find(PieceKind::Out, parameter);
    const auto became = find(PieceKind::Became, parameter);
    if (!was || (!became && (record_.flags & kFailed))) {
      append_marked(out, "at", parameter);
      return {};
    }
    if (!became) {
      const auto given = find(PieceKind::ReturnedString, parameter);
      return given ? append_string(out, *given, display_.style) : append_pointee(out, parameter, *was);
    }
    out += json() ? "{\"was\":" : "";
    Marks marks = append_pointee(out, parameter, *was);
    out += json() ? ",\"became\":" : " -> ";
    append_pointee(out, parameter, *became);
    out += json() ? "}" : "";
    marks.overridden = true;
    return marks;
  }

 private:
  bool json() const { return display_.style == Style::Json; }
  std::optional<Piece> find(PieceKind kind, const Parameter& parameter) const {
    return find_piece(payload_, kind, index_of(probe_, parameter));
  }

  std::string address(const Parameter& parameter) const {
    return fmt::format("{:#x}", argument(probe_, parameter, record_, payload_));
  }

  // {"at":"0x10"}, or only the address in text.
  void append_marked(std::string& out, std::string_view mark, const Parameter& parameter) const {
    if (json()) {
      out += fmt::format("{{\"{}\":\"{}\"}}", mark, address(parameter));
    } else {
      out += mark == "unreadable" ? "<unreadable " + address(parameter) + ">" : address(parameter);
    }
  }

  void append_by_value(std::string& out, const Parameter& parameter) const {
    std::array<std::byte, kLargestByValue> buffer;
    const std::size_t size = std::min<std::size_t>(parameter.type.size, buffer.size());
    const std::size_t got = argument_bytes(parameter, record_, payload_, std::span(buffer).first(size));
    append_value(out, parameter.type, std::span<const std::byte>(buffer).first(got), display_);
  }

  Marks append_text(std::string& out, const Parameter& parameter) const {
    const auto piece = find(PieceKind::String, parameter);
    if (!piece && argument(probe_, parameter, record_, payload_) == 0) {
      out += json() ? "null" : "NULL";
      return {};
    }
    if (!piece) {
      append_marked(out, "at", parameter);
      return {};
    }
    if (piece->header.unreadable) {
      append_marked(out, "unreadable", parameter);
      return {.unreadable = true};
    }
    return append_string(out, *piece, display_.style);
  }

  Marks append_of_operator(std::string& out, const Parameter& parameter, const Piece& piece) const {
    if (parameter.pointee.cls == TypeClass::Tensor)
      append_tensors_text(out, piece.bytes, parameter.pointee.name, piece.header.cut, display_.style);
    else append_elements(out, {TypeClass::Signed, 8, parameter.pointee.name}, piece.bytes, display_);
    return {};
  }

  Marks append_pointee(std::string& out, const Parameter& parameter, const Piece& piece) const {
    if (parameter.is_of_operator() && !piece.header.unreadable) return append_of_operator(out, parameter, piece);
    const bool array = parameter.count > 1 || parameter.length_param >= 0;
    if (piece.header.unreadable || (!array && piece.bytes.size() < parameter.pointee.size)) {
      append_marked(out, "unreadable", parameter);
      return {.unreadable = true};
    }
    if (array) {
      append_elements(out, parameter.pointee, piece.bytes, display_);
    } else {
      append_value(out, parameter.pointee, piece.bytes, display_);
    }
    return {};
  }

  const Probe& probe_;
  const CallRecord& record_;
  Payload payload_;
  Display display_;
};

bool has_entry(const Parameter& parameter) { return parameter.direction != Direction::Out; }
bool has_return(const Parameter& parameter) { return parameter.read_at_return(); }

Value make_value(const CallView& text, const CallView& json, const Parameter& parameter, Direction direction) {
  const auto append = direction == Direction::In ? &CallView::append_entry : &CallView::append_return;
  Value out{.name = parameter.name, .direction = direction};
  const Marks marks = (text.*append)(out.text, parameter);
  (json.*append)(out.json, parameter);
  out.cut = marks.cut;
  out.unreadable = marks.unreadable;
  out.overridden = marks.overridden;
  return out;
}

std::vector<Value> decode_registers(const CallRecord& record) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < kRegisters.size(); ++i) {
    const std::string word = fmt::format("{:#x}", record.words[i]);
    out.push_back({.name = std::string(kRegisters[i]), .text = word, .json = '"' + word + '"'});
  }
  return out;
}

void append_registers_json(std::string& out, const CallRecord& record) {
  for (std::size_t i = 0; i < kRegisters.size(); ++i)
    out += fmt::format("{}\"{}\":\"{:#x}\"", i ? "," : "", kRegisters[i], record.words[i]);
}

void append_parameter_json(std::string& out, const CallView& view, const Parameter& parameter) {
  append_quoted(out, parameter.name, Style::Json);
  out += ':';
  const bool both = has_entry(parameter) && has_return(parameter);
  if (both) out += "{\"in\":";
  if (has_entry(parameter)) view.append_entry(out, parameter);
  if (both) out += ",\"out\":";
  if (has_return(parameter)) view.append_return(out, parameter);
  if (both) out += '}';
}

}  // namespace

std::vector<Value> decode(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor) {
  if (!probe.known_signature) return decode_registers(record);
  const CallView text(probe, record, payload, major, minor, Style::Text);
  const CallView json(probe, record, payload, major, minor, Style::Json);
  std::vector<Value> out;
  for (const Parameter& parameter : probe.parameters) {
    if (has_entry(parameter)) out.push_back(make_value(text, json, parameter, Direction::In));
    if (has_return(parameter)) out.push_back(make_value(text, json, parameter, Direction::Out));
  }
  return out;
}

void append_args_json(std::string& out, const Probe& probe, const CallRecord& record, Payload payload, int major,
                      int minor) {
  out += '{';
  if (!probe.known_signature) {
    append_registers_json(out, record);
  } else {
    const CallView view(probe, record, payload, major, minor, Style::Json);
    for (const Parameter& parameter : probe.parameters) {
      if (&parameter != probe.parameters.data()) out += ',';
      append_parameter_json(out, view, parameter);
    }
  }
  out += '}';
}

std::string args_json(const Probe& probe, const CallRecord& record, Payload payload, int major, int minor) {
  std::string out;
  append_args_json(out, probe, record, payload, major, minor);
  return out;
}

std::string returned_text(Payload payload) {
  std::string out;
  if (const auto piece = find_piece(payload, PieceKind::ReturnedString, kResultParam))
    append_string(out, *piece, Style::Text);
  return out;
}

std::string result_text(const Probe& probe, std::uint64_t result, int major, int minor) {
  std::string out;
  if (probe.result.cls == TypeClass::Void) return out;
  const auto bytes = std::as_bytes(std::span(&result, 1));
  const bool in_register = probe.result.size <= bytes.size();
  const Type shown = in_register ? probe.result : Type{TypeClass::Pointer, 8, probe.result.name + " *"};
  append_value(out, shown, bytes, {types_of(probe), version_of(major, minor), Style::Text});
  return out;
}

}  // namespace fade::probes
