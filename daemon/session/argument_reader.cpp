#include "session/argument_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "ptrace/tracee.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxString = 256;
constexpr std::size_t kMaxName = 4096;  // of kernels (those of Tensile have 700 letters) and paths

std::size_t longest_text(const probes::Probe& probe, const probes::Parameter& parameter) {
  return parameter.role == probes::Role::KernelName || probe.kind == probes::Kind::ModuleLoad ? kMaxName : kMaxString;
}

std::uint64_t elements(const probes::Probe& probe, const probes::Parameter& parameter, const OpenCall& call) {
  if (parameter.length_param < 0) return parameter.count;
  return argument(probe, probe.parameters[static_cast<std::size_t>(parameter.length_param)], call);
}

void read_returned_string(RemoteAddr at, std::uint8_t param, const Memory& memory, OpenCall& call) {
  bool cut = false;
  if (const auto text = at ? memory.c_string(at, kMaxString, &cut) : std::nullopt)
    append_piece(call.payload, {.kind = PieceKind::ReturnedString, .param = param, .cut = cut},
                 std::as_bytes(std::span(*text)));
}

// The address that the function wrote, read before; null if it could not be read.
RemoteAddr given_address(std::uint8_t param, const OpenCall& call) {
  const auto piece = probes::find_piece(call.payload, PieceKind::Out, param);
  RemoteAddr out;
  if (piece && piece->bytes.size() == sizeof out.value) std::memcpy(&out.value, piece->bytes.data(), sizeof out.value);
  return out;
}

void append_words(PieceKind kind, std::span<const std::uint64_t> words, OpenCall& call) {
  append_piece(call.payload, {.kind = kind}, std::as_bytes(words));
}

}  // namespace

RemoteAddr ArgumentReader::read_entry(const Entry& entry, const Registers& registers,
                                      std::span<const std::uint64_t> on_stack, Tid tid, const Memory& memory,
                                      OpenCall& call) {
  std::array<std::uint64_t, 1 + 255> words;
  const std::size_t wanted = 1 + entry.needs.stack_words;
  if (on_stack.size() < wanted)
    on_stack =
        std::span(words).first(memory.read(registers.sp(), std::as_writable_bytes(std::span(words).first(wanted))) / 8);
  if (on_stack.empty()) return {};
  if (wanted > 1) append_words(PieceKind::Stack, on_stack.subspan(1, std::min(wanted, on_stack.size()) - 1), call);
  if (entry.needs.sse_words > 0)
    if (const auto sse = Tracee(tid).sse_words())
      append_words(PieceKind::Sse, std::span(*sse).first(entry.needs.sse_words), call);
  return {on_stack[0]};
}

void ArgumentReader::read_inputs(const Entry& entry, const Memory& memory, OpenCall& call) {
  const probes::Probe& probe = *entry.probe;
  for (const std::uint8_t index : entry.needs.strings) {
    const RemoteAddr at{argument(probe, probe.parameters[index], call)};
    if (!at) continue;
    bool cut = false;
    const auto text = memory.c_string(at, longest_text(probe, probe.parameters[index]), &cut);
    append_piece(call.payload, {.kind = PieceKind::String, .param = index, .cut = cut, .unreadable = !text},
                 text ? std::as_bytes(std::span(*text)) : std::span<const std::byte>());
  }
  for (const std::uint8_t index : entry.needs.ins) read_pointed(entry, index, PieceKind::In, memory, call);
}

void ArgumentReader::read_outputs(const Entry& entry, const Memory& memory, OpenCall& call) {
  for (const std::uint8_t index : entry.needs.outs) read_pointed(entry, index, PieceKind::Out, memory, call);
  if (call.record.flags & kFailed) return;
  for (const std::uint8_t index : entry.needs.out_strings)
    read_returned_string(given_address(index, call), index, memory, call);
  if (entry.needs.result_string) read_returned_string({call.record.result}, kResultParam, memory, call);
}

void ArgumentReader::read_pointed(const Entry& entry, std::uint8_t index, PieceKind kind, const Memory& memory,
                                  OpenCall& call) {
  const probes::Parameter& parameter = entry.probe->parameters[index];
  const RemoteAddr at{argument(*entry.probe, parameter, call)};
  if (!at) return;
  const auto count = std::min<std::uint64_t>(elements(*entry.probe, parameter, call), kMostPointed);
  buffer_.resize(std::min<std::uint64_t>(kMostPointed, count * parameter.pointee.size));
  const std::size_t got = memory.read(at, buffer_);
  append_piece(call.payload, {.kind = kind, .param = index, .unreadable = got < buffer_.size()},
               std::span(buffer_).first(got));
}

}  // namespace fade
