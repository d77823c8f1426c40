#include "probes/overrides/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fade::probes {
namespace {

// Facts that only functions outside the struct give.
constexpr Fact kElsewhere[] = {
    {"memory.free", FieldType::Size, 1, 8, true},
    {"pciFunction", FieldType::Int},  // last digit of hipDeviceGetPCIBusId
    {"cuda.major", FieldType::Int},   // compute capability of CUDA; HIP's numbers are the digits of the architecture
    {"cuda.minor", FieldType::Int},
};

struct Alias {
  std::string_view alias, name;
};
// Other names of the same facts: in PyTorch, in common use, and for the second result of hipMemGetInfo.
constexpr Alias kAliases[] = {
    {"computeUnits", "multiProcessorCount"},
    {"compute_units", "multiProcessorCount"},
    {"multi_processor_count", "multiProcessorCount"},
    {"smCount", "multiProcessorCount"},
    {"memory.total", "totalGlobalMem"},
    {"total_memory", "totalGlobalMem"},
    {"vram", "totalGlobalMem"},
    {"warp_size", "warpSize"},
    {"L2_cache_size", "l2CacheSize"},
    {"is_integrated", "integrated"},
    {"max_threads_per_multi_processor", "maxThreadsPerMultiProcessor"},
    {"clock_rate", "clockRate"},
    {"memory_clock_rate", "memoryClockRate"},
    {"memory_bus_width", "memoryBusWidth"},
    {"regs_per_multiprocessor", "regsPerMultiprocessor"},
    {"shared_memory_per_block", "sharedMemPerBlock"},
};

// Amounts of bytes whose type is int.
constexpr std::string_view kBytesInInt[] = {"l2CacheSize", "persistingL2CacheMaxSize", "accessPolicyMaxWindowSize"};

struct Remark {
  std::string_view name, text;
};
constexpr Remark kRemarks[] = {
    {"multiProcessorCount",
     "only what callers read changes: launches and occupancy keep the runtime's own count, and a cooperative grid "
     "sized by this number may be refused (hipErrorCooperativeLaunchTooLarge)"},
    {"maxThreadsPerMultiProcessor", "occupancy is still computed from the runtime's own value"},
    {"warpSize",
     "kernels keep the width they were compiled for; code that trusts this number may compute wrong results"},
    {"cuda.major",
     "ZLUDA compiles for the device all the same; what asks for a capability may choose code that it does not have"},
    {"gcnArchName", "compilers at run time choose their target by it"},
    {"totalGlobalMem", "allocations beyond what the device has still fail"},
    {"memory.free", "allocations beyond what is really free still fail"},
};

Fact fact_of(const PropertyField& field) {
  Fact fact{field.name, field.type, field.count, field.element_size()};
  if (field.type == FieldType::Bits) fact.count = 32, fact.element_size = 1;
  const auto* end = std::end(kBytesInInt);
  fact.in_bytes = field.type == FieldType::Size || std::find(std::begin(kBytesInInt), end, field.name) != end;
  return fact;
}

void add_layout(const Layout& layout, int Fact::*offset, std::vector<Fact>& out) {
  for (const PropertyField& field : layout.fields) {
    auto known = std::find_if(out.begin(), out.end(), [&](const Fact& f) { return f.name == field.name; });
    if (known == out.end()) known = out.insert(out.end(), fact_of(field));
    (*known).*offset = static_cast<int>(field.offset);
  }
}

std::vector<Fact> all_facts() {
  std::vector<Fact> out;
  add_layout(layout_r0600(), &Fact::offset_r0600, out);
  add_layout(layout_r0000(), &Fact::offset_r0000, out);
  out.insert(out.end(), std::begin(kElsewhere), std::end(kElsewhere));
  return out;
}

}  // namespace

std::span<const Fact> facts() {
  static const std::vector<Fact> kFacts = all_facts();
  return kFacts;
}

const Fact* find_fact(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (alias.alias == name) name = alias.name;
  }
  const auto all = facts();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Fact& f) { return f.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> fact_names() {
  std::vector<std::string> out;
  for (const Fact& fact : facts()) out.emplace_back(fact.name);
  for (const Alias& alias : kAliases) out.emplace_back(alias.alias);
  return out;
}

std::string_view fact_remark(const Fact& fact) {
  for (const Remark& remark : kRemarks) {
    if (remark.name == fact.name) return remark.text;
  }
  return {};
}

std::string element_name(const Fact& fact, std::uint32_t element) {
  if (fact.count == 1) return std::string(fact.name);
  const auto bits = arch_bit_names();
  if (fact.type == FieldType::Bits && element < bits.size()) return fmt::format("{}.{}", fact.name, bits[element]);
  return fmt::format("{}[{}]", fact.name, element);
}

}  // namespace fade::probes
