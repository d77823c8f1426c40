#include "doctor/places.hpp"

#include <algorithm>
#include <filesystem>

#include "base/glob.hpp"
#include "elf/linked_file.hpp"
#include "session/library_names.hpp"

namespace fade::doctor {
namespace {

constexpr std::size_t kMostNames = 100'000, kMostCopies = 64, kLongestFirstLine = 4'096;
constexpr int kMostInterpreters = 4;
constexpr const char* kHip = "libamdhip64.so*";

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string in_path(const Examined& x, const std::string& name) {
  if (name.starts_with('/')) return name;
  for (const std::string& folder : split_at(x.variable("PATH").value_or("/bin:/usr/bin"), ':'))
    if (x.exists(folder + "/" + name)) return folder + "/" + name;
  return {};
}

// "#!/usr/bin/env python3 -u" is python3; empty: no script.
std::string interpreter_of(const Examined& x, const std::string& script) {
  const std::string text = read_bounded(x.root + script, kLongestFirstLine).value_or("");
  if (!text.starts_with("#!")) return {};
  const auto words = split_at(std::string_view(text).substr(2, text.find('\n') - 2), ' ');
  for (const std::string& word : words)
    if (base_name(word) != "env" && !word.starts_with('-') && word.find('=') == word.npos) return in_path(x, word);
  return {};
}

// Folders of packages of the Python at that path: those of its prefix.
void add_packages(const Examined& x, const std::string& python, std::vector<std::string>& to) {
  const std::string prefix = python.substr(0, python.rfind("/bin/"));
  for (const char* library : {"/lib", "/lib64"})
    for (const std::string& version : names_in(x.root + prefix + library, "python3*"))
      for (const char* packages : {"/site-packages", "/dist-packages"})
        to.push_back(prefix + library + "/" + version + packages);
}

// The folder of programs of the Python below a virtual environment that sees the packages of that Python; else empty.
std::string home_of_environment(const Examined& x, const std::string& python) {
  const std::string prefix = python.substr(0, python.rfind("/bin/"));
  std::string home;
  bool sees_system = false;
  for (const std::string& line :
       split_at(read_bounded(x.root + prefix + "/pyvenv.cfg", kLongestFirstLine).value_or(""), '\n')) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("home ") && equals != line.npos) home = line.substr(equals + 3);
    if (line.starts_with("include-system-site-packages ") && line.ends_with("true")) sees_system = true;
  }
  return sees_system ? home : std::string();
}

std::vector<std::string> package_folders(const Examined& x) {
  const std::string python = executed(x);
  if (!base_name(python).starts_with("python")) return {};
  std::vector<std::string> out = split_at(x.variable("PYTHONPATH").value_or(""), ':');
  add_packages(x, python, out);
  if (const std::string home = home_of_environment(x, python); !home.empty()) add_packages(x, home + "/python3", out);
  std::erase_if(out, [&](const std::string& folder) { return !x.exists(folder); });
  return out;
}

std::vector<std::string> folders_with_hip(const Examined& x, const elf::LibrarySearch& search) {
  std::vector<std::string> out = elf::folders_of(search.variables().library_path, {});
  for (const elf::CachedLibrary& one : search.cache())
    if (glob_match(kHip, one.name)) out.push_back(one.path.substr(0, one.path.rfind('/')));
  const auto& usual = elf::LibrarySearch::usual_folders();
  out.insert(out.end(), usual.begin(), usual.end());
  for (const std::string& release : names_in(x.root + "/opt", "rocm*")) out.push_back("/opt/" + release + "/lib");
  for (const char* name : {"ROCM_PATH", "HIP_PATH"})
    if (const auto place = x.variable(name)) out.push_back(*place + "/lib");
  for (const std::string& packages : package_folders(x)) {
    out.push_back(packages + "/torch/lib");
    for (const std::string& sdk : names_in(x.root + packages, "_rocm_sdk_*"))
      out.push_back(packages + "/" + sdk + "/lib");
  }
  return out;
}

}  // namespace

std::vector<std::string> names_in(const std::string& folder, const std::string& pattern) {
  std::vector<std::string> out;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++seen > kMostNames) break;
    const std::string name = it->path().filename().string();
    if (glob_match(pattern, name)) out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

bool is_of_gpu_stack(const std::string& name, const std::string& path) {
  const auto family = family_of(name, path);
  return family.kind == "rocm" || family.kind == "cuda";
}

std::string rule_words(elf::FoundBy rule) {
  return rule == elf::FoundBy::System ? "ld.so.cache or system folders" : std::string(elf::word_for(rule));
}

elf::LibrarySearch library_search(const Examined& x) {
  return {x.root,
          {x.variable("LD_LIBRARY_PATH").value_or(""), x.variable("LD_PRELOAD").value_or(""),
           x.variable("LD_AUDIT").value_or("")}};
}

std::string executed(const Examined& x) {
  std::string at = x.program;
  for (int i = 0; i < kMostInterpreters; ++i) {
    const std::string interpreter = interpreter_of(x, at);
    if (interpreter.empty()) break;
    at = interpreter;
  }
  return at;
}

std::string version_of(const elf::LibrarySearch& search, const std::string& path) {
  return version_in(search.real_path(path));
}

std::vector<Copy> hip_copies_on(const Examined& x, const elf::LibrarySearch& search) {
  std::vector<Copy> out;
  for (const std::string& folder : folders_with_hip(x, search))
    for (const std::string& name : names_in(x.root + folder, kHip)) {
      const std::string path = folder + "/" + name, real = search.real_path(path);
      const auto known = std::ranges::find(out, real, &Copy::real_path);
      const auto file = elf::read_linked_file(x.root + path);
      if (known != out.end() || !file || out.size() >= kMostCopies) continue;
      out.push_back({path, real, file->soname, version_in(real)});
    }
  return out;
}

std::vector<std::string> torch_folders(const Examined& x) {
  std::vector<std::string> out;
  for (const std::string& packages : package_folders(x))
    if (x.exists(packages + "/torch/version.py")) out.push_back(packages + "/torch");
  return out;
}

}  // namespace fade::doctor
