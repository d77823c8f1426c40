// The terminal, through ncurses: only cells that changed are sent. The one file that knows ncurses. The terminal is as
// it was before when the object ends.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/top/layout.hpp"

struct screen;  // of ncurses

namespace fade::cli::top {

class Screen {
 public:
  static Result<void> check();  // fails if TERM names no terminal with cursor movements; changes nothing
  static Result<Screen> open(bool color);
  Screen(Screen&& other) noexcept : screen_(std::exchange(other.screen_, nullptr)), color_(other.color_) {}
  Screen& operator=(Screen&&) = delete;
  ~Screen();

  Size size() const;
  void draw(const std::vector<TextLine>& lines);
  void draw_again();  // everything, at the next draw(): another program wrote to the terminal
  // The next key, without waiting; the size has changed: kResized.
  std::optional<int> key();
  static constexpr int kResized = -2;
  static constexpr int kErase = -3;  // Backspace
  static constexpr int kEnter = -4;

 private:
  explicit Screen(screen* s, bool color) : screen_(s), color_(color) {}
  int attribute(Style style) const;

  screen* screen_;
  bool color_;
};

}  // namespace fade::cli::top
