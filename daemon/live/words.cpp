#include "live/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/glob.hpp"

namespace fade::live {
namespace {

constexpr std::array<std::string_view, 7> kInterpreters{"python", "pypy", "bash", "sh", "perl", "ruby", "node"};

bool is_interpreter(std::string_view name) {
  return std::ranges::any_of(kInterpreters, [&](std::string_view known) {
    return name.starts_with(known) && name.find_first_not_of("0123456789.", known.size()) == name.npos;
  });
}

}  // namespace

std::string short_command(const std::vector<std::string>& command) {
  if (command.empty() || command[0].empty()) return "a process";
  const std::string program(base_name(command[0]));
  if (command.size() < 2 || !is_interpreter(program)) return program;
  if (command[1] == "-m" && command.size() > 2) return program + " -m " + command[2];
  return command[1].starts_with('-') ? program : program + ' ' + std::string(base_name(command[1]));
}

}  // namespace fade::live
