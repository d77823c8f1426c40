#include "probes/summed_words.hpp"

#include <array>
#include <span>

#include "probes/call_facts.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kSummedStackWords = 6;

}  // namespace

// Outputs are taken from the record of the return, so there is at most one.
bool SummedWords::add_out(const Parameter& parameter, std::size_t index) {
  const bool is_small = parameter.at.where == Location::Where::Integer && parameter.length_param < 0 &&
                        parameter.count == 1 && (parameter.pointee.size == 4 || parameter.pointee.size == 8);
  if (has_out() || !is_small || parameter.direction != Direction::Out) return false;
  out_ = static_cast<std::uint8_t>(index);
  out_mask_ = ~std::uint64_t{0} >> (64 - 8 * parameter.pointee.size);
  return true;
}

// An address without a role says nothing about the call: the list of a kernel's arguments.
bool SummedWords::add(const Probe& probe, std::size_t index) {
  const Parameter& parameter = probe.parameters[index];
  if (parameter.read_at_return()) return add_out(parameter, index);
  if (parameter.read_at_entry() || parameter.type.cls == TypeClass::CString) return false;
  if (parameter.type.cls == TypeClass::Pointer && parameter.role == Role::None) return true;
  return words_.add({false, static_cast<std::uint8_t>(index), parameter.at, 0, parameter.type.size});
}

std::optional<SummedWords> SummedWords::of(const Probe& probe) {
  SummedWords out;
  if (is_only_summed(probe)) return out;
  if (!may_be_summed(probe)) return std::nullopt;
  for (std::size_t i = 0; i < probe.parameters.size(); ++i)
    if (!out.add(probe, i)) return std::nullopt;
  out.stack_words_ = probe.stack_words;
  const bool fits = out.size() <= CallWords::kMost && out.words_.stack_bytes() <= probe.stack_words * 8u &&
                    probe.stack_words <= kSummedStackWords;
  return fits ? std::optional(out) : std::nullopt;
}

void SummedWords::write(const Values& values, CallRecord& record, std::vector<std::byte>& payload) const {
  std::array<std::uint64_t, kSummedStackWords> stack{};
  std::size_t n = 0;
  for (const auto& word : words_.registers()) record.words[word.at] = values[n++];
  for (const auto& word : words_.on_stack()) stack[word.at] = values[n++];
  if (stack_words_ > 0 && size() > 0)
    append_piece(payload, {.kind = PieceKind::Stack}, std::as_bytes(std::span(stack).first(stack_words_)));
  if (!has_out()) return;
  const auto out = std::as_bytes(std::span(&values[n], 1)).first(out_mask_ >> 32 ? 8 : 4);
  append_piece(payload, {.kind = PieceKind::Out, .param = out_}, out);
}

}  // namespace fade::probes
