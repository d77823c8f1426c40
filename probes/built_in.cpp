#include "probes/built_in.hpp"

#include <cstdio>
#include <cstdlib>

#include "probes/syntax/parser.hpp"

extern "C" {
extern const char fade_hip_enums_begin[], fade_hip_enums_end[];
extern const char fade_hip_probes_begin[], fade_hip_probes_end[];
extern const char fade_hiprtc_probes_begin[], fade_hiprtc_probes_end[];
extern const char fade_roctx_probes_begin[], fade_roctx_probes_end[];
extern const char fade_cuda_enums_begin[], fade_cuda_enums_end[];
extern const char fade_cuda_probes_begin[], fade_cuda_probes_end[];
extern const char fade_nvml_probes_begin[], fade_nvml_probes_end[];
extern const char fade_hsa_probes_begin[], fade_hsa_probes_end[];
}

namespace fade::probes {
namespace {

struct BuiltIn {
  std::vector<ProbePtr> probes;
  std::shared_ptr<const Types> types;
};

void load(BuiltIn& into, std::string_view name, const char* begin, const char* end) {
  ParsedFile file = parse({begin, static_cast<std::size_t>(end - begin)}, name, into.types);
  if (!file.errors.empty()) {
    std::fprintf(stderr, "fade: its own data is broken: %s\n", error_of(file, name).text().c_str());
    std::abort();
  }
  into.types = file.types;
  for (Probe& probe : file.probes) into.probes.push_back(std::make_shared<const Probe>(std::move(probe)));
}

const BuiltIn& built_in() {
  static const BuiltIn loaded = [] {
    BuiltIn out{.types = basic_types()};
    load(out, "hip.enums", fade_hip_enums_begin, fade_hip_enums_end);
    load(out, "hip.probes", fade_hip_probes_begin, fade_hip_probes_end);
    load(out, "hiprtc.probes", fade_hiprtc_probes_begin, fade_hiprtc_probes_end);
    load(out, "cuda.enums", fade_cuda_enums_begin, fade_cuda_enums_end);
    load(out, "cuda.probes", fade_cuda_probes_begin, fade_cuda_probes_end);
    load(out, "nvml.probes", fade_nvml_probes_begin, fade_nvml_probes_end);
    load(out, "roctx.probes", fade_roctx_probes_begin, fade_roctx_probes_end);
    load(out, "hsa.probes", fade_hsa_probes_begin, fade_hsa_probes_end);
    return out;
  }();
  return loaded;
}

}  // namespace

const std::vector<ProbePtr>& built_in_probes() { return built_in().probes; }
std::shared_ptr<const Types> built_in_types() { return built_in().types; }

}  // namespace fade::probes
