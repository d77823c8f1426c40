#include "probes/hsa_calls.hpp"

#include <algorithm>
#include <string_view>

namespace fade::probes {
namespace {

struct Row {
  std::string_view begin;  // of the symbol
  HsaCall call;
};
// The first row that fits counts.
constexpr Row kRows[] = {
    {"hsa_queue_add_write_index_", HsaCall::Packet},
    {"hsa_queue_destroy", HsaCall::QueueEnd},
    {"hsa_amd_memory_async_copy_rect", HsaCall::RectCopy},
    {"hsa_amd_memory_async_copy", HsaCall::Copy},
    {"hsa_amd_profiling_get_dispatch_time", HsaCall::KernelTime},
    {"hsa_amd_profiling_get_async_copy_time", HsaCall::CopyTime},
    {"hsa_executable_get_symbol_by_name", HsaCall::SymbolByName},
    {"hsa_executable_symbol_get_info", HsaCall::SymbolInfo},
    {"hsa_system_get_info", HsaCall::SystemInfo},
};

}  // namespace

HsaCall hsa_call(const Probe& probe) {
  if (probe.api != "hsa") return HsaCall::None;
  const auto* row = std::ranges::find_if(kRows, [&](const Row& r) { return probe.symbol.starts_with(r.begin); });
  return row == std::end(kRows) ? HsaCall::None : row->call;
}

}  // namespace fade::probes
