#include "store/call_family.hpp"

#include <algorithm>
#include <string_view>

#include "probes/hsa_calls.hpp"

namespace fade::store {
namespace {

using probes::Kind;

struct OfSymbol {
  std::string_view symbol;
  CallFamily family;
};
constexpr OfSymbol kOfSymbols[] = {
    {"hipModuleUnload", CallFamily::ModuleUnload},
    {"hipLibraryUnload", CallFamily::ModuleUnload},
    {"hipStreamWaitEvent", CallFamily::Graph},  // leads a capture into another stream
    {"hipStreamWaitEvent_spt", CallFamily::Graph},
};

struct OfKind {
  Kind kind;
  CallFamily family;
};
constexpr OfKind kOfKinds[] = {
    {Kind::Launch, CallFamily::Launch},
    {Kind::Graph, CallFamily::Graph},
    {Kind::Event, CallFamily::Graph},  // events lead a capture into other streams
    {Kind::ModuleLoad, CallFamily::ModuleLoad},
    {Kind::Copy, CallFamily::Copy},
    {Kind::Set, CallFamily::Copy},
    {Kind::StreamCreate, CallFamily::StreamCreate},
    {Kind::StreamDestroy, CallFamily::StreamDestroy},
    {Kind::Sync, CallFamily::StreamSync},
    {Kind::SetDevice, CallFamily::SetDevice},
    {Kind::GetDevice, CallFamily::SetDevice},  // its answer says which one it is
    {Kind::GetFunction, CallFamily::KernelName},
    {Kind::Register, CallFamily::KernelName},
    {Kind::DeviceQuery, CallFamily::DeviceQuery},
    {Kind::RangePush, CallFamily::Marker},
    {Kind::RangePop, CallFamily::Marker},
    {Kind::RangeStart, CallFamily::Marker},
    {Kind::RangeStop, CallFamily::Marker},
    {Kind::Mark, CallFamily::Marker},
};

}  // namespace

CallFamily call_family(const probes::Probe& probe) {
  if (probes::hsa_call(probe) != probes::HsaCall::None) return CallFamily::Gpu;
  const auto* symbol = std::ranges::find(kOfSymbols, std::string_view(probe.symbol), &OfSymbol::symbol);
  if (symbol != std::end(kOfSymbols)) return symbol->family;
  const auto* kind = std::ranges::find(kOfKinds, probe.kind, &OfKind::kind);
  return kind == std::end(kOfKinds) ? CallFamily::Memory : kind->family;
}

}  // namespace fade::store
