#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "doctor/checks.hpp"
#include "supervisor/kfd_topology.hpp"

namespace fade::doctor {
namespace {

enum class If : std::uint8_t { Set, NotZero, Zero };  // Set: to anything but an empty text

// A variable that changes what a program sees or how long it takes.
struct Variable {
  std::string_view name;  // a '*' at the end stands for any rest
  If condition;
  std::string_view effect;
};
constexpr Variable kVariables[] = {
    {"HSA_OVERRIDE_GFX_VERSION*", If::Set, "HIP names another architecture than the GPU's; results may be wrong"},
    {"HSA_MODEL_TOPOLOGY", If::Set, "the GPU is simulated: kernels do not run"},
    {"GPU_ENABLE_WGP_MODE", If::Zero, "HIP counts compute units instead of work-group processors"},
    {"ROC_GLOBAL_CU_MASK", If::Set, "kernels run on some of the compute units, and HIP counts these only"},
    {"HSA_CU_MASK", If::Set, "kernels run on some of the compute units, though HIP counts all"},
    {"GPU_DEVICE_ORDINAL", If::Set, "OpenCL obeys it, HIP does not; HIP_VISIBLE_DEVICES is HIP's"},
    {"GPU_MAX_ALLOC_PERCENT", If::Set, "it limits the memory that a program is given"},
    {"GPU_MAX_HEAP_SIZE", If::Set, "it limits the memory that a program is told of"},
    {"GPU_SINGLE_ALLOC_PERCENT", If::Set, "it limits the size of one allocation"},
    {"AMD_SERIALIZE_KERNEL", If::NotZero, "launches wait for each other: times are not those of a normal run"},
    {"AMD_SERIALIZE_COPY", If::NotZero, "copies wait for each other: times are not those of a normal run"},
    {"HIP_LAUNCH_BLOCKING", If::NotZero, "each launch waits for its kernel: times are not those of a normal run"},
    {"AMD_LOG_LEVEL", If::NotZero, "HIP writes a log, which makes each call slower"},
    {"HIP_FORCE_QUEUE_PROFILING", If::NotZero, "HIP asks for the times of all kernels, which makes launches slower"},
    {"GPU_FORCE_QUEUE_PROFILING", If::NotZero, "HIP asks for the times of all kernels, which makes launches slower"},
    {"HSA_TOOLS_LIB", If::Set, "a tool such as a profiler is loaded into the program"},
    {"ROCP_TOOL_LIB*", If::Set, "a profiler is loaded into the program"},
    {"ZLUDA_OVERRIDE_COMPUTE_CAPABILITY*", If::Set, "ZLUDA reports another compute capability"},
    {"LD_PRELOAD", If::Set, "libraries that come first may answer in the place of HIP"},
    {"LD_AUDIT", If::Set, "an auditor may change which libraries are loaded"},
};

// Variables of conda and of builds: which files are found, and for which GPUs code is built.
constexpr Variable kBuildVariables[] = {
    {"CONDA_PREFIX", If::Set, "the conda environment of this shell"},
    {"VIRTUAL_ENV", If::Set, "the virtual environment of this shell"},
    {"PYTHONPATH", If::Set, "its packages come before those of the environment"},
    {"ROCM_PATH", If::Set, "builds and libraries look for ROCm there"},
    {"ROCM_HOME", If::Set, "builds of PyTorch's extensions look for ROCm there"},
    {"HIP_PATH", If::Set, "hipcc and libraries look for HIP there"},
    {"CUDA_HOME", If::Set, "builds of PyTorch's extensions look for CUDA there"},
    {"HIP_PLATFORM", If::Set, "hipcc builds for this platform"},
    {"PYTORCH_ROCM_ARCH", If::Set, "extensions of PyTorch are built for these GPUs alone"},
    {"GPU_TARGETS", If::Set, "CMake builds for these GPUs alone"},
    {"AMDGPU_TARGETS", If::Set, "CMake builds for these GPUs alone"},
    {"HCC_AMDGPU_TARGET", If::Set, "hipcc builds for these GPUs alone"},
    {"USE_ROCM", If::Set, "builds of PyTorch decide by it"},
};

bool is_zero(std::string_view value) { return value == "0" || value == "false" || value == "False"; }

bool holds(If condition, std::string_view value) {
  if (value.empty()) return false;
  return condition == If::Set || is_zero(value) == (condition == If::Zero);
}

bool is_named(const Variable& variable, std::string_view name) {
  if (!variable.name.ends_with('*')) return name == variable.name;
  return name.starts_with(variable.name.substr(0, variable.name.size() - 1));
}

using Gpus = std::vector<std::string>;  // their UUIDs, in the order of their numbers; a UUID may be empty

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<std::size_t> place_of(const std::string& word, const Gpus& gpus) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size())
    return number < gpus.size() ? std::optional(number) : std::nullopt;
  const auto found = std::ranges::find_if(gpus, [&](const std::string& uuid) { return lower(uuid) == lower(word); });
  return found == gpus.end() || word.empty() ? std::nullopt : std::optional<std::size_t>(found - gpus.begin());
}

// The GPUs that a list leaves: it ends at the first word that names none.
Gpus left_by(std::string_view list, const Gpus& gpus) {
  Gpus out;
  std::vector<std::size_t> taken;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string word(list.substr(begin, end - begin));
    std::erase(word, ' ');
    const auto place = place_of(word, gpus);
    if (!place) break;
    if (std::ranges::find(taken, *place) == taken.end()) taken.push_back(*place), out.push_back(gpus[*place]);
    begin = end + 1;
  }
  return out;
}

Gpus gpus_of(const Examined& x) {
  Gpus out;
  for (const KfdNode& node : KfdReader(x.root + "/sys").read().nodes)
    if (node.gpu && node.problem.empty()) out.push_back(node.uuid);
  return out;
}

// Applies one variable to the GPUs that are visible so far.
Answer applied(const std::string& name, const std::string& value, Gpus& gpus) {
  const std::string shown = value.empty() ? "empty" : value;
  const bool is_known = !gpus.empty();
  const std::size_t before = gpus.size();
  gpus = left_by(value, gpus);
  const bool hides_all = value.empty() || value.starts_with('-') || (is_known && gpus.empty());
  Answer out = hides_all  ? problem(shown + ": hides every GPU from HIP", "unset " + name)
               : is_known ? ok(fmt::format("{}: leaves {} of {} GPUs", shown, gpus.size(), before))
                          : ok(shown + ": chooses among the GPUs");
  out.name = name;
  return out;
}

}  // namespace

// ROCR_VISIBLE_DEVICES counts first, also if it is empty; then HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES if HIP's is
// empty.
Answers visible_devices(const Examined& x) {
  if (!x.environment) return {none("unknown: the environment may not be read")};
  Gpus gpus = gpus_of(x);
  Answers out;
  if (const auto rocr = x.variable("ROCR_VISIBLE_DEVICES")) out.push_back(applied("ROCR_VISIBLE_DEVICES", *rocr, gpus));
  const std::string hip = x.variable("HIP_VISIBLE_DEVICES").value_or("");
  const std::string cuda = x.variable("CUDA_VISIBLE_DEVICES").value_or("");
  const bool is_hidden = !out.empty() && out.back().verdict == Verdict::Problem;
  if (!hip.empty() && !is_hidden) out.push_back(applied("HIP_VISIBLE_DEVICES", hip, gpus));
  if (hip.empty() && !cuda.empty() && !is_hidden) out.push_back(applied("CUDA_VISIBLE_DEVICES", cuda, gpus));
  if (!hip.empty() && !cuda.empty() && hip != cuda) {
    out.push_back(warning(fmt::format("{}: has no effect, because HIP_VISIBLE_DEVICES comes first", cuda),
                          "set one of the two, or both alike"));
    out.back().name = "CUDA_VISIBLE_DEVICES";
  }
  if (out.empty()) out.push_back(ok("no variable hides a GPU"));
  return out;
}

// A conda environment that is not the program's own has other libraries.
bool is_of_another_environment(const Examined& x, const std::string& name, const std::string& value) {
  const bool is_place = name == "CONDA_PREFIX" || name == "VIRTUAL_ENV";
  return is_place && !x.program.empty() && !x.program.starts_with(value + "/");
}

Answers build_variables(const Examined& x) {
  Answers out;
  for (const Variable& variable : kBuildVariables) {
    const std::string value = x.variable(variable.name).value_or("");
    if (value.empty()) continue;
    const std::string name(variable.name), text = fmt::format("{}: {}", value, variable.effect);
    out.push_back(is_of_another_environment(x, name, value)
                      ? warning(text + ", which the program is not in", "activate the environment of the program")
                      : ok(text));
    out.back().name = name;
  }
  return out;
}

Answers other_variables(const Examined& x) {
  if (!x.environment) return {none("unknown: the environment may not be read")};
  Answers out;
  for (const std::string& one : *x.environment) {
    const std::string name = one.substr(0, one.find('=')), value = one.substr(std::min(name.size() + 1, one.size()));
    for (const Variable& variable : kVariables) {
      if (!is_named(variable, name) || !holds(variable.condition, value)) continue;
      out.push_back(warning(fmt::format("{}: {}", value, variable.effect), "unset " + name));
      out.back().name = name;
    }
  }
  if (out.empty()) out.push_back(ok("none that changes what a program sees"));
  return out;
}

}  // namespace fade::doctor
