#include "cli/top/screen.hpp"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/own_memory.hpp"

// Of <term.h>, which also defines macros with names such as `lines`.
extern "C" int setupterm(const char* name, int fd, int* why);

namespace fade::cli::top {
namespace {

constexpr int kEscapeDelay = 50;  // ms after which Esc is a key of its own
enum Pair : short { kRed = 1, kGreen = 2 };

tl::unexpected<Error> no_terminal(const char* name) {
  return fail(fmt::format("fade top cannot draw on a terminal of type '{}'", name == nullptr ? "" : name),
              "it has no cursor movements, or the system does not know it (TERM)",
              "fade-query top --watch prints again and again; fade top --once prints once");
}

void prepare_colors() {
  ::start_color();
  ::use_default_colors();
  ::init_pair(kRed, COLOR_RED, -1);
  ::init_pair(kGreen, COLOR_GREEN, -1);
}

void prepare_input() {
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(::stdscr, true);
  ::nodelay(::stdscr, true);
  ::set_escdelay(kEscapeDelay);
  ::curs_set(0);
}

// ---------------------------------------------------------------- out of memory: curses cannot end then
termios terminal_before{};
std::array<char, 256> leave_screen{};  // what curses would write at its end

void add_capability(const char* name) {
  const char* text = ::tigetstr(name);
  const std::size_t used = std::strlen(leave_screen.data());
  if (text == nullptr || text == reinterpret_cast<char*>(-1) || used + std::strlen(text) >= leave_screen.size()) return;
  std::strcpy(leave_screen.data() + used, text);
}

void restore_terminal() {
  (void)!::write(STDOUT_FILENO, leave_screen.data(), std::strlen(leave_screen.data()));
  ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

void prepare_for_the_worst() {
  leave_screen.fill(0);
  for (const char* name : {"sgr0", "rmkx", "cnorm", "rmcup"}) add_capability(name);
  own_memory::before_end(restore_terminal);
}

int translated(int key) {
  switch (key) {
    case KEY_RESIZE: return Screen::kResized;
    case KEY_BACKSPACE:
    case 127:
    case '\b': return Screen::kErase;
    case KEY_ENTER:
    case '\r':
    case '\n': return Screen::kEnter;
    default: return key;
  }
}

}  // namespace

Result<void> Screen::check() {
  const char* name = std::getenv("TERM");
  if (name == nullptr || *name == '\0' || std::string_view(name) == "dumb") return no_terminal(name);
  int why = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &why) != OK) return no_terminal(name);
  const char* moves = ::tigetstr("cup");
  if (moves == nullptr || moves == reinterpret_cast<char*>(-1)) return no_terminal(name);
  return {};
}

Result<Screen> Screen::open(bool color) {
  if (auto fits = check(); !fits) return tl::unexpected(std::move(fits.error()));
  const bool known = ::tcgetattr(STDIN_FILENO, &terminal_before) == 0;
  SCREEN* made = ::newterm(nullptr, stdout, stdin);
  if (made == nullptr) return no_terminal(std::getenv("TERM"));
  Screen screen(made, color);
  screen.color_ = color && ::has_colors();
  if (screen.color_) prepare_colors();
  prepare_input();
  if (known) prepare_for_the_worst();
  return screen;
}

Screen::~Screen() {
  if (screen_ == nullptr) return;
  own_memory::before_end(nullptr);
  ::endwin();
  ::delscreen(screen_);
}

Size Screen::size() const {
  return {static_cast<std::size_t>(std::max(1, ::getmaxx(::stdscr))),
          static_cast<std::size_t>(std::max(1, ::getmaxy(::stdscr)))};
}

int Screen::attribute(Style style) const {
  switch (style) {
    case Style::Title: return A_REVERSE;
    case Style::Strong: return A_BOLD;
    case Style::Dim: return A_DIM;
    case Style::Bad: return static_cast<int>(color_ ? A_BOLD | COLOR_PAIR(kRed) : A_BOLD);
    case Style::Bar: return static_cast<int>(color_ ? COLOR_PAIR(kGreen) : A_NORMAL);
    case Style::Normal: break;
  }
  return A_NORMAL;
}

void Screen::draw(const std::vector<TextLine>& lines) {
  ::erase();
  int row = 0;
  for (const TextLine& line : lines) {
    ::move(row++, 0);
    for (const Span& span : line) {
      ::attrset(attribute(span.style));
      ::addnstr(span.text.data(), static_cast<int>(span.text.size()));
    }
  }
  ::attrset(A_NORMAL);
  ::refresh();
}

void Screen::draw_again() { ::clearok(::curscr, true); }

std::optional<int> Screen::key() {
  const int key = ::getch();
  return key == ERR ? std::nullopt : std::optional(translated(key));
}

}  // namespace fade::cli::top
