// Whether to write in colour, by the user's wish, the conventions NO_COLOR, CLICOLOR_FORCE and TERM, and the terminal.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace fade::cli {

enum class ColorWish : std::uint8_t { Auto, Always, Never };

bool use_color(ColorWish wish, bool is_terminal, const char* (*environment)(const char*));
bool use_color(ColorWish wish, int fd);  // with the process's own environment and that descriptor

}  // namespace fade::cli
