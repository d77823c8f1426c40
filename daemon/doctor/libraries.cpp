#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/glob.hpp"
#include "doctor/checks.hpp"
#include "doctor/places.hpp"
#include "elf/linked_file.hpp"
#include "elf/maps.hpp"
#include "session/library_names.hpp"

namespace fade::doctor {
namespace {

constexpr std::string_view kHipName = "libamdhip64";
constexpr const char* kWhichOne = "fade doctor -- COMMAND shows which one a program gets";

std::string with_version(const std::string& path, const std::string& version) {
  return version.empty() || path.ends_with(version) ? path : fmt::format("{} ({})", path, version);
}

// One line for each copy on the machine: whether a dlopen by its name would take it.
Answer from_copy(const Copy& copy, const elf::LibrarySearch& search, const std::vector<const elf::Asker*>& askers) {
  const std::string shown = with_version(copy.path, copy.version);
  const elf::FoundLibrary taken =
      search.find(copy.soname.empty() ? std::string(base_name(copy.path)) : copy.soname, askers);
  Answer out = none(shown + ": the loader does not find it by its name");
  if (!taken.path.empty() && search.real_path(taken.path) == copy.real_path)
    out = ok(fmt::format("{}: taken for {} ({})", shown, taken.name, rule_words(taken.rule)));
  out.name = kHipName;
  return out;
}

Answers from_copies(const std::vector<Copy>& copies, const elf::LibrarySearch& search,
                    const std::vector<const elf::Asker*>& askers) {
  Answers out;
  for (const Copy& copy : copies) out.push_back(from_copy(copy, search, askers));
  return out;
}

bool is_hip(const std::string& name, const std::string& path) { return family_of(name, path).name == kHipName; }

// Libraries of the GPU stack that are linked with the program, directly or through others.
Answers linked(const elf::LibrarySearch& search, const std::vector<elf::FoundLibrary>& all) {
  Answers out;
  std::set<std::string> hip;
  for (const elf::FoundLibrary& one : all) {
    if (!is_of_gpu_stack(one.name, one.path) || one.path.empty()) continue;
    const std::string shown = with_version(one.path, version_of(search, one.path));
    out.push_back(ok(fmt::format("{}, by {}", shown, rule_words(one.rule))));
    out.back().name = one.name;
    if (is_hip(one.name, one.path)) hip.insert(search.real_path(one.path));
  }
  if (hip.size() > 1)
    out.push_back(problem(
        fmt::format("{} copies of libamdhip64 would be loaded: each has devices and memory of its own", hip.size()),
        "make all libraries use one: LD_LIBRARY_PATH, or build them for the same release of ROCm"));
  return out;
}

}  // namespace

Answers hip_copies(const Examined& x) {
  const elf::LibrarySearch search = library_search(x);
  const std::vector<Copy> copies = hip_copies_on(x, search);
  if (copies.empty())
    return {warning("no libamdhip64 in the loader's folders and /opt/rocm*: only programs that bring one use HIP",
                    "install HIP (Debian, Ubuntu: apt-get install libamdhip64-5; AMD: rocm-hip-runtime)")};
  Answers out = from_copies(copies, search, {});
  if (copies.size() > 1)
    out.push_back(warning(fmt::format("{} copies of libamdhip64 are on this machine", copies.size()), kWhichOne));
  return out;
}

Answers hip_of_program(const Examined& x) {
  const elf::LibrarySearch search = library_search(x);
  const std::string program = search.real_path(executed(x));
  const auto file = elf::read_linked_file(x.root + program, program);
  if (!file) return {none("unknown: the program file cannot be read")};
  const std::vector<elf::FoundLibrary> all = search.libraries_of(program);
  const bool is_linked = std::ranges::any_of(all, [](const auto& one) { return is_hip(one.name, one.path); });
  Answers out = linked(search, all);
  if (is_linked) return out;
  const std::vector<Copy> copies = hip_copies_on(x, search);
  for (Answer& one : from_copies(copies, search, {&file->links})) out.push_back(std::move(one));
  out.push_back(copies.empty()
                    ? warning("the program is not linked with HIP, and no libamdhip64 was found for it to load",
                              "if the program brings one, LD_LIBRARY_PATH must name its folder")
                    : none("the program is not linked with HIP; it may load one of these while it runs"));
  return out;
}

Answers hip_of_process(const Examined& x) {
  const auto maps = elf::read_maps(x.pid, x.proc());
  if (!maps) return {none("unknown: the maps of the process may not be read")};
  std::set<std::string> paths, hip;
  for (const elf::Mapping& mapping : maps->all())
    if (mapping.has_file() && is_of_gpu_stack({}, mapping.path)) paths.insert(mapping.path);
  Answers out;
  for (const std::string& path : paths) {
    out.push_back(ok(path));
    out.back().name = family_of({}, path).name;
    if (is_hip({}, path)) hip.insert(path);
  }
  if (hip.empty()) out.push_back(none("the process has not loaded HIP so far"));
  if (hip.size() > 1)
    out.push_back(
        warning(fmt::format("{} copies of libamdhip64 are loaded: each has devices and memory of its own", hip.size()),
                "record it, then: fade-query redirects      shows which module uses which copy"));
  return out;
}

Answers zluda(const Examined& x) {
  const elf::LibrarySearch search = library_search(x);
  const std::string program = x.program.empty() ? std::string() : search.real_path(executed(x));
  const auto asker = elf::read_linked_file(x.root + program, program);
  std::vector<const elf::Asker*> askers;
  if (!program.empty() && asker) askers.push_back(&asker->links);
  const elf::FoundLibrary cuda = search.find("libcuda.so.1", askers);
  if (cuda.path.empty()) return {none("no libcuda.so.1 is found: programs for CUDA do not start here")};
  const std::string where = fmt::format("{}, by {}", cuda.path, rule_words(cuda.rule));
  const auto file = elf::read_linked_file(x.root + cuda.path, cuda.path);
  const auto for_hip = [](const std::string& name) { return is_hip(name, name); };
  if (!file || std::ranges::none_of(file->links.needed, for_hip))
    return {none(where + ": not ZLUDA (it is not linked with HIP)")};
  for (const elf::FoundLibrary& one : search.libraries_of(cuda.path))
    if (one.path.empty())
      return {problem(fmt::format("{}: ZLUDA, but its {} is not found", where, one.name),
                      "LD_LIBRARY_PATH must name the folder of that library, such as /opt/rocm/lib")};
  return {ok(where + ": ZLUDA")};
}

}  // namespace fade::doctor
