#include "cli/query/porting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/glob.hpp"
#include "cli/query/named_row.hpp"
#include "cli/table/text.hpp"
#include "elf/elf_file.hpp"
#include "elf/library_search.hpp"
#include "elf/undefined_names.hpp"
#include "probes/porting_table.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

// Libraries of NVIDIA. Their imports are no work for a port.
constexpr const char* kOfCuda[] = {"libcu*", "libnv*", "libnccl*", "libnpp*"};

bool is_of_cuda(const std::string& path) {
  const std::string name(base_name(path));
  return std::ranges::any_of(kOfCuda, [&](const char* pattern) { return glob_match(pattern, name); });
}

// nvcc put kernels into the file, but the file imports no function that launches them.
bool has_static_runtime(const elf::ElfFile& file, const std::vector<std::string>& imports) {
  const bool has_kernels =
      file.section(".nv_fatbin") || file.section("__nv_relfatbin") || file.section(".nvFatBinSegment");
  return has_kernels && std::ranges::none_of(imports, [](const std::string& name) {
           return probes::cuda_library_of(name) == "runtime";
         });
}

Result<void> add_imports(const std::string& path, CudaUses& to) {
  auto file = elf::ElfFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto imports = elf::undefined_names(*file);
  for (const std::string& name : imports)
    if (!probes::cuda_library_of(name).empty()) to.all.push_back({name, path, {}, 0});
  if (has_static_runtime(*file, imports))
    to.limits.push_back(
        fmt::format("The CUDA runtime is linked into {}, so its functions are no imports. A recording "
                    "of the program on ZLUDA shows the functions of the driver that it calls.",
                    table::printable(path)));
  return {};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A script is no ELF file. Its imports would be those of its interpreter.
tl::unexpected<Error> not_readable(const std::string& path, const Error& error) {
  return usage("cannot read imports of " + table::printable(path), error.cause.empty() ? error.message : error.cause,
               "name a program or library for 64-bit x86, or a recording");
}

}  // namespace

Result<CudaUses> cuda_calls(Context& context, Recording& recording) {
  auto rows = named_rows(context, recording, schema::page_sql("porting"));
  if (!rows) return tl::unexpected(rows.error());
  CudaUses out;
  for (const NamedRow& row : *rows)
    out.all.push_back({row.raw("name"), {}, row.number("calls"), row.number("total_ns")});
  if (std::ranges::none_of(out.all, [](const CudaUse& use) {
        const std::string_view library = probes::cuda_library_of(use.name);
        return library != "driver" && library != "nvml";
      }))
    out.limits.emplace_back(
        "Functions of cuBLAS, cuDNN and other libraries are recorded if they are asked for: "
        "fade-run -e all,comm,blas,dnn,fft,sparse");
  return out;
}

Result<CudaUses> cuda_imports(const std::string& file, bool with_libraries) {
  CudaUses out;
  if (auto added = add_imports(file, out); !added) return not_readable(file, added.error());
  if (with_libraries) {
    const elf::LibrarySearch search("", {variable("LD_LIBRARY_PATH"), variable("LD_PRELOAD"), ""});
    std::error_code error;
    for (const elf::FoundLibrary& one : search.libraries_of(std::filesystem::absolute(file, error).string())) {
      if (is_of_cuda(one.name)) continue;
      if (one.path.empty())
        out.limits.push_back(fmt::format("{} is not found, so its imports are unknown.", table::printable(one.name)));
      else (void)add_imports(one.path, out);  // a broken library of the system imports nothing
    }
  } else {
    out.limits.emplace_back("Imports of the libraries that the file needs are left out: --with-libraries adds them.");
  }
  out.limits.emplace_back("Functions that a program looks up while it runs (dlsym, cuGetProcAddress) are no imports.");
  return out;
}

}  // namespace fade::query
