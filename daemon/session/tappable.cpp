#include "session/tappable.hpp"

#include <algorithm>

namespace fade {
namespace {

using probes::Parameter;
using probes::Probe;

// The result is a 32-bit word, as the errors of HIP and CUDA are; or none of its values is a failure.
bool has_known_failures(const Probe& probe) { return !probe.has_success || probe.result.size == 4; }

bool is_small_out(const Parameter& parameter) {
  const std::size_t size = out_size(parameter);
  return parameter.at.where == probes::Location::Where::Integer && parameter.length_param < 0 &&
         (size == 4 || size == 8 || size == tap::ExitLayout::kMostOut);
}

bool has_small_outs(const Needs& needs, const Probe& probe) {
  return needs.outs.size() <= 1 &&
         std::ranges::all_of(needs.outs, [&](std::uint8_t index) { return is_small_out(probe.parameters[index]); });
}

// Null: all that such a call needs is in general registers and on the stack.
const char* outside_of_registers(const Needs& needs, const Probe& probe) {
  if (!needs.of_operator.empty()) return "the shapes of its tensors are read at its stop (--operator-shapes)";
  if (!needs.strings.empty() || !needs.ins.empty() || !needs.out_strings.empty() || needs.result_string)
    return "its arguments or results are read from memory";
  if (needs.sse_words != 0 || needs.sse_result) return "it has floating-point arguments or a floating-point result";
  return needs.stack_words <= tap::EntryLayout::kMostStackWords && probe.passed_words ? nullptr
                                                                                      : "it has too many arguments";
}

// Null: nothing is done while the thread stands still.
const char* needs_a_stop(const Needs& needs) {
  if (needs.rule) return "a rule of --set may change its answer";
  if (needs.inject) return "a rule of --inject or --replace may act on its calls";
  if (needs.numbers) return "--watch-numbers looks at copies and waits at their stops";
  if (needs.gemm || needs.gemm_parts || needs.errand) return "--check blas fetches matrices at its stop";
  if (!needs.actions.empty() || needs.step) return "a rule of --actions may follow its calls";
  if (needs.only) return "only calls with some arguments are recorded";
  if (!needs.callers.empty()) return "only calls of some libraries are recorded (-e NAME@LIBRARY)";
  if (needs.code_object) return "it loads GPU code, which is read at its stop";
  return needs.table || needs.resolver ? "it returns functions, which are read at its stop" : nullptr;
}

// Null: unless the bookkeeping of its calls reads memory, its prototype is the user's own, or a question chooses the
// size of its answer. Such an answer may be smaller than what a tap reads.
const char* is_left_to_breakpoints(const Probe& probe) {
  const probes::HsaCall hsa = probes::hsa_call(probe);
  if (hsa == probes::HsaCall::SymbolInfo || hsa == probes::HsaCall::SystemInfo)
    return "the size of its answer depends on its question";
  if (hsa == probes::HsaCall::QueueEnd) return "packets are read at its stop, before they go";
  if (probe.api == "user") return "it is a function of the user's own";
  const bool is_left = probe.kind == probes::Kind::Graph || probe.kind == probes::Kind::GetFunction;
  return is_left ? "it belongs to graphs or handles of kernels, which are followed at its stop" : nullptr;
}

}  // namespace

const char* why_not_tappable(const Needs& needs, const Probe& probe) {
  if (!probe.known_signature || !needs.result) return "its prototype or the end of its calls is not known";
  for (const char* why : {needs_a_stop(needs), is_left_to_breakpoints(probe), outside_of_registers(needs, probe)})
    if (why) return why;
  if (!has_known_failures(probe)) return "its failures are not known from a result of 32 bits";
  return has_small_outs(needs, probe) ? nullptr : "more than one small answer of it is recorded";
}

// Functions that ask: for a device, an error, or whether work has ended; and the frequent ones without a book.
bool may_be_left_out(const Probe& probe) {
  using probes::Kind;
  constexpr std::int64_t kNotReady = 600;  // of HIP and CUDA
  if (probe.memory_action() != probes::MemoryAction() || probes::hsa_call(probe) != probes::HsaCall::None) return false;
  if (probe.kind == Kind::DeviceQuery || probe.kind == Kind::GetDevice || probe.kind == Kind::Error) return true;
  if (probe.kind != Kind::Event && probe.kind != Kind::Other) return false;
  return probe.hot || std::ranges::find(probe.not_failures, kNotReady) != probe.not_failures.end();
}

tap::Tapped tapped(const Needs& needs, const Probe& probe) {
  tap::Tapped out{.stack_words = static_cast<std::uint8_t>(needs.stack_words),
                  .passed_words = probe.passed_words.value_or(0)};
  if (probe.has_success) out.success = static_cast<std::uint32_t>(probe.success);
  if (!probe.not_failures.empty()) out.expected = static_cast<std::uint32_t>(probe.not_failures.front());
  if (needs.outs.empty()) return out;
  const Parameter& parameter = probe.parameters[needs.outs.front()];
  out.out = tap::Tapped::Out{parameter.at.first, static_cast<std::uint8_t>(out_size(parameter))};
  return out;
}

std::size_t out_size(const Parameter& parameter) { return parameter.pointee.size * parameter.count; }

}  // namespace fade
