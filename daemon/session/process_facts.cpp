#include "session/process_facts.hpp"

#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/rank.hpp"
#include "proc/living_thread.hpp"

namespace fade {
namespace {

// Name* stands for every variable that begins so.
constexpr const char* kStored[] = {
    "AMD_*",
    "CUDA_*",
    "DEBUG_CLR_*",
    "DEBUG_HIP_*",
    "GGML_CUDA_*",
    "GPU_*",
    "HIP_*",
    "HIPBLASLT_*",
    "HIPRTC_*",
    "HSAKMT_*",
    "HSA_*",
    "KMP_*",
    "LD_*",
    "MIOPEN_*",
    "NCCL_*",
    "OLLAMA_*",
    "OMP_*",
    "PYTORCH_*",
    "RCCL_*",
    "REMOTE_ALLOC",
    "ROCBLAS_*",
    "ROCM_*",
    "ROCPROFILER_*",
    "ROCR_*",
    "ROC_*",
    "TENSILE_*",
    "TORCHINDUCTOR_*",
    "TORCH_*",
    "TRITON_*",
    "ZLUDA_*",
    "DISABLE_DEFERRED_ALLOC",
    "CQ_THREAD_STACK_SIZE",
};
constexpr const char* kSecretWords[] = {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"};

}  // namespace

bool may_be_stored(const std::string& name) {
  return is_rank_variable(name) || std::ranges::any_of(kStored, [&](std::string_view pattern) {
           return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
         });
}

std::string redacted(const std::string& name, const std::string& value) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool secret =
      std::ranges::any_of(kSecretWords, [&](const char* word) { return upper.find(word) != upper.npos; });
  return secret ? "<redacted>" : value;
}

Error process_gone(TaskId task) { return {fmt::format("process {} has ended", task.value()), {}, {}, ESRCH}; }

ProcessFacts read_process_facts(Pid pid, const ProcFiles& proc) {
  ProcessFacts facts;
  const StatFile stat = proc.stat(pid);
  facts.ppid = Pid::of(static_cast<pid_t>(stat.number(StatFile::Parent).value_or(0)));
  facts.start_ticks = stat.number(StatFile::StartTime).value_or(0);
  if (const auto ids = proc.status(pid).ids("Uid")) facts.uid = (*ids)[0];
  const Tid alive = living_thread(pid, proc);
  facts.exe = proc.link(alive, "exe");
  facts.command = proc.texts(alive, "cmdline");
  for (const auto& item : proc.texts(alive, "environ")) {
    const auto equals = item.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = item.substr(0, equals);
    if (may_be_stored(name)) facts.environment.emplace_back(name, redacted(name, item.substr(equals + 1)));
  }
  return facts;
}

Whose memory_of(TaskId child, Tid maker) {
  const long compared = ::syscall(SYS_kcmp, child.value(), maker.value(), KCMP_VM, 0, 0);
  return compared < 0 ? Whose::Unknown : compared == 0 ? Whose::Shared : Whose::Own;
}

bool shares_memory(TaskId child, Tid maker) { return memory_of(child, maker) == Whose::Shared; }

}  // namespace fade
