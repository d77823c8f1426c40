#include "probes/library_catalogues.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

// The name of an embedded file, and the bytes of it.
#define FADE_LIBRARY(file) extern "C" const char fade_##file##_probes_begin[], fade_##file##_probes_end[];
#define FADE_TEXT(file) fade_##file##_probes_begin, fade_##file##_probes_end
FADE_LIBRARY(rccl)
FADE_LIBRARY(rocblas)
FADE_LIBRARY(hipblas)
FADE_LIBRARY(hipblaslt)
FADE_LIBRARY(miopen)
FADE_LIBRARY(rocfft)
FADE_LIBRARY(hipfft)
FADE_LIBRARY(rocsparse)
FADE_LIBRARY(hipsparse)
FADE_LIBRARY(rocsolver)
FADE_LIBRARY(hipsolver)
FADE_LIBRARY(rocrand)
FADE_LIBRARY(hiprand)
FADE_LIBRARY(cublas)
FADE_LIBRARY(cublaslt)
FADE_LIBRARY(cudnn)
FADE_LIBRARY(cufft)
FADE_LIBRARY(cusparse)
FADE_LIBRARY(loads)
FADE_LIBRARY(driver)
FADE_LIBRARY(torch_ranges)
FADE_LIBRARY(torch_memory)

namespace fade::probes {
namespace {

const LibraryCatalogue kCatalogues[] = {
    {"rccl", "rccl", "comm", "nccl", FADE_TEXT(rccl)},
    {"rocblas", "rocblas", "blas", "rocblas_", FADE_TEXT(rocblas)},
    {"hipblas", "hipblas", "blas", "hipblas", FADE_TEXT(hipblas)},
    {"hipblaslt", "hipblaslt", "blas", "hipblasLt", FADE_TEXT(hipblaslt)},
    {"miopen", "miopen", "dnn", "miopen", FADE_TEXT(miopen)},
    {"rocfft", "rocfft", "fft", "rocfft_", FADE_TEXT(rocfft)},
    {"hipfft", "hipfft", "fft", "hipfft", FADE_TEXT(hipfft)},
    {"rocsparse", "rocsparse", "sparse", "rocsparse_", FADE_TEXT(rocsparse)},
    {"hipsparse", "hipsparse", "sparse", "hipsparse", FADE_TEXT(hipsparse)},
    {"rocsolver", "rocsolver", "solver", "rocsolver_", FADE_TEXT(rocsolver)},
    {"hipsolver", "hipsolver", "solver", "hipsolver", FADE_TEXT(hipsolver)},
    {"rocrand", "rocrand", "rand", "rocrand_", FADE_TEXT(rocrand)},
    {"hiprand", "hiprand", "rand", "hiprand", FADE_TEXT(hiprand)},
    {"cublas", "cublas", "blas", "cublas", FADE_TEXT(cublas)},
    {"cublaslt", "cublaslt", "blas", "cublasLt", FADE_TEXT(cublaslt)},
    {"cudnn", "cudnn", "dnn", "cudnn", FADE_TEXT(cudnn)},
    {"cufft", "cufft", "fft", "cufft", FADE_TEXT(cufft)},
    {"cusparse", "cusparse", "sparse", "cusparse", FADE_TEXT(cusparse)},
    {"loads", "loads", "loads", "dl", FADE_TEXT(loads)},
    {"driver", "driver", "driver", "ioctl", FADE_TEXT(driver)},
    {"torch_ranges", "torch", "ops-ranges", "_ZN", FADE_TEXT(torch_ranges)},
    {"torch_memory", "torch", "ops-memory", "_ZN3c10", FADE_TEXT(torch_memory)},
};

// Patterns that mean the functions of HIP or CUDA alone. The libraries are off by default.
constexpr std::string_view kRuntimes[] = {"*", "hip*", "cu*"};

// Tests if the pattern may name a function of the library: both begin alike.
bool may_match(std::string_view pattern, std::string_view prefix) {
  const std::size_t end = pattern.find_first_of("*?[");
  if (end == pattern.npos || std::ranges::find(kRuntimes, pattern) != std::end(kRuntimes)) return false;
  return prefix.starts_with(pattern.substr(0, end));
}

bool asks(std::string_view word, const LibraryCatalogue& library) {
  if (word.starts_with("trace=")) word.remove_prefix(6);
  word = word.substr(0, word.find('@'));
  return word == library.group || word == library.api || word.starts_with(library.prefix) ||
         may_match(word, library.prefix);
}

}  // namespace

std::span<const LibraryCatalogue> library_catalogues() { return kCatalogues; }

std::vector<std::string_view> library_groups() {
  std::vector<std::string_view> out;
  for (const LibraryCatalogue& library : kCatalogues)
    if (std::ranges::find(out, library.group) == out.end()) out.push_back(library.group);
  return out;
}

bool is_asked_for(const LibraryCatalogue& library, std::string_view events) {
  while (!events.empty()) {
    const std::size_t comma = std::min(events.find(','), events.size());
    if (asks(events.substr(0, comma), library)) return true;
    events.remove_prefix(std::min(comma + 1, events.size()));
  }
  return false;
}

ParsedFile read_library(const LibraryCatalogue& library, std::shared_ptr<const Types> under) {
  const std::string_view text(library.begin, static_cast<std::size_t>(library.end - library.begin));
  ParsedFile out = parse(text, library.file, std::move(under));
  if (!out.errors.empty()) {
    std::fprintf(stderr, "fade: its own data is broken: %s\n", error_of(out, library.file).text().c_str());
    std::abort();
  }
  for (Probe& probe : out.probes) {
    probe.optional = true;
    probe.group = library.group;
  }
  return out;
}

}  // namespace fade::probes
