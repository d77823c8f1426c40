#include "session/tappable.hpp"

#include <algorithm>

namespace fade {
namespace {

using probes::Parameter;
using probes::Probe;

// The result is a 32-bit word, as the errors of HIP and CUDA are; or none of its values is a failure.
bool has_known_failures(const Probe& probe) { return !probe.has_success || probe.result.size == 4; }

bool is_small_out(const Parameter& parameter) {
  return parameter.at.where == probes::Location::Where::Integer && parameter.length_param < 0 && parameter.count == 1 &&
         (parameter.pointee.size == 4 || parameter.pointee.size == 8);
}

bool has_small_outs(const Needs& needs, const Probe& probe) {
  return needs.outs.size() <= 1 &&
         std::ranges::all_of(needs.outs, [&](std::uint8_t index) { return is_small_out(probe.parameters[index]); });
}

bool only_registers_and_stack(const Needs& needs) {
  return needs.strings.empty() && needs.ins.empty() && needs.out_strings.empty() && !needs.result_string &&
         needs.sse_words == 0 && !needs.sse_result && needs.stack_words <= tap::EntryLayout::kMostStackWords;
}

// Things that are done while the thread stands still.
bool needs_a_stop(const Needs& needs) { return needs.code_object || needs.table || needs.rule || needs.resolver; }

// Their bookkeeping reads memory, or their prototype is the user's own.
bool is_left_to_breakpoints(const Probe& probe) {
  return probe.kind == probes::Kind::Graph || probe.kind == probes::Kind::GetFunction || probe.api == "user";
}

}  // namespace

bool tappable(const Needs& needs, const Probe& probe) {
  return probe.known_signature && needs.result && only_registers_and_stack(needs) && !needs_a_stop(needs) &&
         !is_left_to_breakpoints(probe) && has_known_failures(probe) && has_small_outs(needs, probe);
}

tap::Tapped tapped(const Needs& needs, const Probe& probe) {
  tap::Tapped out{.stack_words = static_cast<std::uint8_t>(needs.stack_words)};
  if (probe.has_success) out.success = static_cast<std::uint32_t>(probe.success);
  if (!probe.not_failures.empty()) out.expected = static_cast<std::uint32_t>(probe.not_failures.front());
  if (needs.outs.empty()) return out;
  const Parameter& parameter = probe.parameters[needs.outs.front()];
  out.out = tap::Tapped::Out{parameter.at.first, static_cast<std::uint8_t>(parameter.pointee.size)};
  return out;
}

}  // namespace fade
