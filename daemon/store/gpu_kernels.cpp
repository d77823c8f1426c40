#include "store/gpu_kernels.hpp"

#include <optional>
#include <utility>

#include "base/demangle.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostGpuEntries = 100'000;  // of each map of a process
constexpr std::string_view kDescriptor = ".kd", kOfRuntime = "__amd_rocclr_";

GpuKind kind_by_name(std::string_view name) {
  if (!name.starts_with(kOfRuntime)) return GpuKind::Kernel;
  name.remove_prefix(kOfRuntime.size());
  if (name.starts_with("fill")) return GpuKind::Fill;
  return name.starts_with("copy") ? GpuKind::Copy : GpuKind::Kernel;
}

template <class Map>
void forget_if_full(Map& map) {
  if (map.size() >= kMostGpuEntries) map.clear();
}

}  // namespace

GpuKernels::GpuKernels(sqlite::Db& db, Failure& failure)
    : last_kernel_(last_row<GpuKernelRow>(db, "gpu_kernel_")),
      kernel_(db, failure, "INSERT INTO gpu_kernel_ (id, process, object) VALUES (?,?,?)"),
      name_(db, failure, "UPDATE gpu_kernel_ SET name = ?2, demangled = ?3 WHERE id = ?1"),
      launched_(db, failure, "UPDATE gpu_kernel_ SET kernel = ?2 WHERE id = ?1"),
      name_launched_(
          db, failure,
          "UPDATE kernel_ SET (name, demangled) = (SELECT name, demangled FROM gpu_kernel_ WHERE id = ?1) "
          "WHERE id = ?2 AND name GLOB '0x[0-9a-f]*' AND EXISTS (SELECT 1 FROM gpu_kernel_ WHERE id = ?1 AND "
          "name IS NOT NULL)") {}

void GpuKernels::symbol(ProcessId process, std::uint64_t symbol, std::string name) {
  if (name.ends_with(kDescriptor)) name.resize(name.size() - kDescriptor.size());
  auto& symbols = processes_[process].symbols;
  forget_if_full(symbols);
  symbols[symbol] = std::move(name);
}

// Code that is loaded where other code was has another kernel there.
void GpuKernels::object(ProcessRow row, ProcessId process, std::uint64_t symbol, std::uint64_t object) {
  OfProcess& known = processes_[process];
  const auto name = known.symbols.find(symbol);
  if (name == known.symbols.end() || object == 0) return;
  known.kernels.erase(object);
  Kernel& kernel = this->kernel(row, process, object);
  kernel.kind = kind_by_name(name->second);
  name_(kernel.row, name->second, demangled(name->second));
}

GpuKernels::Kernel& GpuKernels::kernel(ProcessRow row, ProcessId process, std::uint64_t object) {
  auto& kernels = processes_[process].kernels;
  const auto known = kernels.find(object);
  if (known != kernels.end()) return known->second;
  forget_if_full(kernels);
  Kernel& out = kernels[object];
  out.row = ++last_kernel_;
  kernel_(out.row, row, object);
  return out;
}

void GpuKernels::launched(Kernel& kernel, KernelRow launched) {
  if (kernel.is_launched) return;
  kernel.is_launched = true;
  launched_(kernel.row, launched);
  name_launched_(kernel.row, launched);
}

std::int64_t GpuKernels::queue(ProcessId process, std::uint64_t address) {
  auto& queues = processes_[process].queues;
  return queues.try_emplace(address, static_cast<std::int64_t>(queues.size()) + 1).first->second;
}

void GpuKernels::end_process(ProcessId process) { processes_.erase(process); }

}  // namespace fade::store
