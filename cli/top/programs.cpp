#include "cli/top/programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace fade::cli::top {
namespace {

std::string folder_of_this_program() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return whole.substr(0, whole.rfind('/') + 1);
}

}  // namespace

void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv((folder_of_this_program() + words.front()).c_str(), arguments.data());
  ::execvp(words.front().c_str(), arguments.data());
}

}  // namespace fade::cli::top
