#include "base/user_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace fade {
namespace {

constexpr std::array<std::string_view, 2> kPackages{"/site-packages/", "/dist-packages/"};
constexpr std::array<std::string_view, 2> kLibraries{"/lib/python", "/lib64/python"};
constexpr std::array<std::string_view, 3> kGenerated{"<frozen ", "<eval_with_key>", "<__array_function__"};

// The position of "python3.11/" after `folder`; npos: none.
std::size_t standard_library(std::string_view file, std::string_view folder) {
  const std::size_t at = file.find(folder);
  if (at == file.npos) return at;
  const std::string_view rest = file.substr(at + folder.size());
  const bool has_version =
      !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) && rest.find('/') != rest.npos;
  return has_version ? at + folder.size() - std::string_view("python").size() : file.npos;
}

// "/usr/lib/python311.zip/os.py"
bool is_in_archive(std::string_view file) {
  const std::size_t zip = file.find(".zip/");
  const std::size_t python = file.substr(0, zip).rfind("python");
  return zip != file.npos && python != file.npos && python + 6 < zip &&
         std::isdigit(static_cast<unsigned char>(file[python + 6]));
}

bool is_starter(std::string_view file) { return file.find("/bin/") != file.npos && !file.ends_with(".py"); }

std::string_view last_part(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  return slash == file.npos ? file : file.substr(slash + 1);
}

}  // namespace

bool is_user_code(std::string_view file) {
  if (file.empty() || is_in_archive(file) || is_starter(file)) return false;
  if (std::ranges::any_of(kPackages, [&](std::string_view folder) { return file.find(folder) != file.npos; }))
    return false;
  if (std::ranges::any_of(kLibraries,
                          [&](std::string_view folder) { return standard_library(file, folder) != file.npos; }))
    return false;
  return std::ranges::none_of(kGenerated, [&](std::string_view begin) { return file.starts_with(begin); });
}

std::string short_file_name(std::string_view file, std::string_view folder) {
  for (const std::string_view package : kPackages)
    if (const std::size_t at = file.find(package); at != file.npos)
      return std::string(file.substr(at + package.size()));
  for (const std::string_view library : kLibraries)
    if (const std::size_t at = standard_library(file, library); at != file.npos) return std::string(file.substr(at));
  if (!folder.empty() && file.size() > folder.size() + 1 && file.starts_with(folder) && file[folder.size()] == '/')
    return std::string(file.substr(folder.size() + 1));
  const std::string_view name = last_part(file);
  const std::string_view before = file.substr(0, file.size() - name.size());
  if ((name != "__init__.py" && name != "__main__.py") || before.size() < 2) return std::string(name);
  return std::string(last_part(before.substr(0, before.size() - 1))) + '/' + std::string(name);
}

}  // namespace fade
