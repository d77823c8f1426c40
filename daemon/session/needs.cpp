#include "session/needs.hpp"

#include "probes/operators.hpp"

namespace fade {
namespace {

bool names_kernels(const probes::Probe& probe) {
  using probes::Kind;
  return probe.kind == Kind::GetFunction || probe.kind == Kind::Launch || probe.kind == Kind::Graph;
}

}  // namespace

Needs needs_of(const probes::Probe& probe, const probes::Overrides& overrides) {
  using probes::Kind;
  Needs out{.stack_words = probe.stack_words, .sse_words = probe.sse_words, .sse_result = probe.returns_sse()};
  for (std::size_t i = 0; i < probe.parameters.size() && i < 255; ++i) {
    const probes::Parameter& parameter = probe.parameters[i];
    const auto index = static_cast<std::uint8_t>(i);
    if (parameter.type.cls == probes::TypeClass::CString) out.strings.push_back(index);
    if (parameter.read_at_entry()) (parameter.is_of_operator() ? out.of_operator : out.ins).push_back(index);
    if (parameter.read_at_return()) out.outs.push_back(index);
    if (!parameter.only.empty()) out.only = true;
    if (parameter.gives_text()) out.out_strings.push_back(index);
  }
  out.kernel_names = names_kernels(probe);
  out.code_object = probe.kind == Kind::ModuleLoad;
  out.device = probe.kind == Kind::SetDevice;
  out.hsa = probes::hsa_call(probe);
  out.table = probe.with_role(probes::Role::Table) != nullptr;
  out.rule = !overrides.empty() && overrides.touches(probe.symbol);
  out.result_string = probe.result.cls == probes::TypeClass::CString;
  out.makes_tensor = !out.of_operator.empty() && probe.symbol == probes::kTensorMaker;
  out.result = !probe.entry_only || out.always();
  return out;
}

}  // namespace fade
