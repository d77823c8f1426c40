// PyTorch in the program's Python: its build, the GPUs that it has code for, and the libraries that it would load.
// Files are read; Python is not run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/glob.hpp"
#include "doctor/checks.hpp"
#include "doctor/places.hpp"
#include "doctor/targets.hpp"
#include "elf/elf_file.hpp"
#include "elf/offload_targets.hpp"
#include "session/library_names.hpp"
#include "supervisor/kfd_topology.hpp"

namespace fade::doctor {
namespace {

constexpr std::size_t kLongestVersionFile = 65'536;
constexpr const char* kInstall = "pip install torch --index-url https://download.pytorch.org/whl/rocm6.4";

// NAME = 'VALUE' or NAME: Optional[str] = 'VALUE' in torch/version.py; empty: no such line, or None.
std::string value_in(const std::string& text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t open = line.find_first_of("'\"");
    const bool is_it = line.starts_with(name) && line.size() > name.size() &&
                       std::string_view(" :=").find(line[name.size()]) != std::string_view::npos;
    if (is_it && open != line.npos)
      return std::string(line.substr(open + 1, line.find(line[open], open + 1) - open - 1));
  }
  return {};
}

// "2.5.1+rocm6.2, HIP 6.2.41133"
std::string version_words(const std::string& text) {
  std::string out = value_in(text, "__version__");
  const std::string hip = value_in(text, "hip"), cuda = value_in(text, "cuda");
  if (!hip.empty()) out += (out.empty() ? "HIP " : ", HIP ") + hip;
  if (!cuda.empty()) out += (out.empty() ? "CUDA " : ", CUDA ") + cuda;
  return out.empty() ? out : " (" + out + ")";
}

bool is_for_rocm(const Examined& x, const std::string& torch) { return x.exists(torch + "/lib/libtorch_hip.so"); }

std::vector<std::string> torch_of_rocm(const Examined& x) {
  std::vector<std::string> out = torch_folders(x);
  std::erase_if(out, [&](const std::string& torch) { return !is_for_rocm(x, torch); });
  return out;
}

// The chip that HSA_OVERRIDE_GFX_VERSION=10.3.0 makes HIP name; empty: not set, or nonsense.
std::string chip_by_variable(const Examined& x) {
  unsigned major = 0, minor = 0, step = 0;
  const std::string text = x.variable("HSA_OVERRIDE_GFX_VERSION").value_or("");
  if (std::sscanf(text.c_str(), "%3u.%2u.%2u", &major, &minor, &step) != 3) return {};
  return gfx_name(std::uint64_t{major} * 10'000 + minor * 100 + step);
}

std::vector<std::string> cards(const Examined& x) {
  std::set<std::string> out;
  for (const KfdNode& node : KfdReader(x.root + "/sys").read().nodes)
    if (node.gpu && !node.arch.empty()) out.insert(node.arch);
  const std::string as = chip_by_variable(x);
  if (!as.empty() && !out.empty()) return {as};
  return {out.begin(), out.end()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::vector<std::string> targets_of_files(const Examined& x, const std::string& folder) {
  std::set<std::string> out;
  for (const std::string& name : names_in(x.root + folder, "*gfx*")) out.insert(target_in(name));
  out.erase("");
  return {out.begin(), out.end()};
}

// One line for the code of a library against the cards.
Answer compared(const std::string& what, const std::vector<std::string>& targets, const std::vector<std::string>& of) {
  const std::string has = what + " has code for " + joined(targets);
  for (const std::string& card : of)
    if (!any_runs_on(targets, card))
      return problem(fmt::format("{}, none for this machine's {}", has, card),
                     fmt::format("install a build for {}, or build it with PYTORCH_ROCM_ARCH={}", card, card));
  return ok(of.empty() ? has + "; no GPU to compare with" : has + ", and so for " + joined(of));
}

struct GpuLibrary {
  elf::FoundLibrary found;
  std::string family;
};

std::vector<GpuLibrary> gpu_libraries(const elf::LibrarySearch& search, const std::string& torch) {
  std::vector<GpuLibrary> out;
  for (const elf::FoundLibrary& one : search.libraries_of(torch + "/lib/libtorch_hip.so"))
    if (is_of_gpu_stack(one.name, one.path)) out.push_back({one, std::string(family_of(one.name, one.path).name)});
  return out;
}

// A library from another place than PyTorch's own copy of it.
Answer from_library(const Examined& x, const std::string& torch, const GpuLibrary& one) {
  Answer out;
  const std::string own = torch + "/lib/", rule = rule_words(one.found.rule);
  const auto copies = names_in(x.root + own, one.family + ".so*");
  if (one.found.path.empty())
    out = problem(fmt::format("{} is not found; {} needs it", one.found.name, base_name(one.found.asker)),
                  "install the release of ROCm that PyTorch was built for, or name its folder in LD_LIBRARY_PATH");
  else if (!one.found.path.starts_with(own) && !copies.empty())
    out = warning(
        fmt::format("{}, by {}: PyTorch has a copy of its own, {}{}", one.found.path, rule, own, copies.front()),
        "unset LD_LIBRARY_PATH, so that PyTorch loads its own libraries");
  else out = ok(fmt::format("{}, by {}", one.found.path, rule));
  out.name = one.found.name;
  return out;
}

}  // namespace

// PyTorch for the CPU or for CUDA is the usual reason for a GPU that is not used.
Answers torch_build(const Examined& x) {
  Answers out;
  for (const std::string& folder : torch_folders(x)) {
    const std::string version =
        version_words(read_bounded(x.root + folder + "/version.py", kLongestVersionFile).value_or(""));
    if (is_for_rocm(x, folder)) out.push_back(ok(fmt::format("{} is a build for ROCm{}", folder, version)));
    else
      out.push_back(warning(
          fmt::format("{} is no build for ROCm{} (no libtorch_hip.so): it does not use an AMD GPU", folder, version),
          kInstall));
  }
  if (out.size() > 1)
    out.push_back(warning("Python imports the first of these", "remove the others, or use another environment"));
  return out;
}

Answers torch_targets(const Examined& x) {
  Answers out;
  const std::vector<std::string> chips = cards(x);
  for (const std::string& torch : torch_of_rocm(x)) {
    const auto file = elf::ElfFile::open(x.root + torch + "/lib/libtorch_hip.so");
    const auto own = file ? elf::offload_targets(*file) : std::vector<std::string>();
    if (!own.empty()) out.push_back(compared("libtorch_hip.so", own, chips));
    else out.push_back(none("the GPUs that libtorch_hip.so has code for cannot be read"));
    for (const char* library : {"rocblas", "hipblaslt"}) {
      const auto files = targets_of_files(x, torch + "/lib/" + library + "/library");
      if (!files.empty()) out.push_back(compared(library, files, chips));
    }
  }
  return out;
}

Answers torch_libraries(const Examined& x) {
  Answers out;
  const elf::LibrarySearch search = library_search(x);
  for (const std::string& torch : torch_of_rocm(x))
    for (const GpuLibrary& one : gpu_libraries(search, torch)) out.push_back(from_library(x, torch, one));
  return out;
}

}  // namespace fade::doctor
