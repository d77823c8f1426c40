#include "live/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace fade::live {
namespace {

constexpr std::array<std::string_view, 7> kInterpreters{"python", "pypy", "bash", "sh", "perl", "ruby", "node"};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_interpreter(std::string_view name) {
  return std::ranges::any_of(kInterpreters, [&](std::string_view known) {
    return name.starts_with(known) && name.find_first_not_of("0123456789.", known.size()) == name.npos;
  });
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string seconds_text(std::int64_t ns) {
  const double seconds = static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9;
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  return whole < 7200 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string short_command(const std::vector<std::string>& command) {
  if (command.empty() || command[0].empty()) return "a process";
  const std::string program(file_name(command[0]));
  if (command.size() < 2 || !is_interpreter(program)) return program;
  if (command[1] == "-m" && command.size() > 2) return program + " -m " + command[2];
  return command[1].starts_with('-') ? program : program + ' ' + std::string(file_name(command[1]));
}

}  // namespace fade::live
