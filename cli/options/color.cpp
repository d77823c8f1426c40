#include "cli/options/color.hpp"

#include <unistd.h>

#include <string_view>

namespace fade::cli {

bool use_color(ColorWish wish, bool is_terminal, const char* (*environment)(const char*)) {
  if (wish != ColorWish::Auto) return wish == ColorWish::Always;
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  if (!value("NO_COLOR").empty()) return false;
  if (const auto forced = value("CLICOLOR_FORCE"); !forced.empty() && forced != "0") return true;
  return is_terminal && value("TERM") != "dumb" && !value("TERM").empty();
}

bool use_color(ColorWish wish, int fd) {
  return use_color(wish, ::isatty(fd) == 1, [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace fade::cli
