// The kernels that packets name by their objects, each with one row, and the numbers of queues. The runtime looks up a
// kernel by its name, and then asks for its object. A launch of one kernel tells which kernel of the program it is.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/event.hpp"
#include "store/gpu_sums.hpp"

namespace fade::store {

class GpuKernels {
 public:
  GpuKernels(sqlite::Db& db, Failure& failure);

  struct Kernel {
    GpuKernelRow row = 0;
    GpuKind kind = GpuKind::Kernel;  // by its name: kernels of the runtime itself copy and fill
    bool is_launched = false;        // a launch said which kernel of the program it is
  };

  void symbol(ProcessId process, std::uint64_t symbol, std::string name);
  void object(ProcessRow row, ProcessId process, std::uint64_t symbol, std::uint64_t object);
  Kernel& kernel(ProcessRow row, ProcessId process, std::uint64_t object);
  // `launched`: of the launch that put only this packet. It has the name of the symbol if it had none.
  void launched(Kernel& kernel, KernelRow launched);
  // Its number among the queues of the process.
  std::int64_t queue(ProcessId process, std::uint64_t address);
  void end_process(ProcessId process);

 private:
  struct OfProcess {
    std::unordered_map<std::uint64_t, std::string> symbols;
    std::unordered_map<std::uint64_t, Kernel> kernels;
    std::unordered_map<std::uint64_t, std::int64_t> queues;
  };

  std::unordered_map<ProcessId, OfProcess> processes_;
  GpuKernelRow last_kernel_;
  Write kernel_, name_, launched_, name_launched_;
};

}  // namespace fade::store
