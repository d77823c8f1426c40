#include "cli/top/keys.hpp"

#include <algorithm>
#include <array>

namespace fade::cli::top {
namespace {

constexpr int kEscape = 27, kControlL = 12;

constexpr std::array kKeys{
    Key{'q', "q", Action::Quit, "quit", "quit; with a process id, leave the program as it was"},
    Key{'?', "?", Action::Help, "help", "show or hide this help"},
    Key{'/', "/", Action::Filter, "filter", "show only names that match a regular expression; Enter ends it"},
    Key{kEscape, "Esc", Action::ClearFilter, {}, "show all names again"},
    Key{'s', "s", Action::Order, "sort", "sort by the next of: time, calls, errors, name"},
    Key{'p', "p", Action::Process, "process", "show the next process alone"},
    Key{'a', "a", Action::AllProcesses, {}, "show all processes together"},
    Key{' ', "Space", Action::Pause, "pause", "hold the view still, or go on; the recording goes on"},
    Key{'w', "w", Action::Save, "save", "write the view to a text file"},
    Key{'W', "W", Action::Page, "page", "write the page of the recording (fade-query page)"},
    Key{kControlL, "Ctrl-L", Action::Redraw, {}, "draw the terminal again"},
};

constexpr std::array kOthers{
    Key{'h', {}, Action::Help, {}, {}},
    Key{'Q', {}, Action::Quit, {}, {}},
    Key{'P', {}, Action::Process, {}, {}},
    Key{'\t', {}, Action::Process, {}, {}},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }

Action action_of(int key) {
  const auto is = [key](const Key& row) { return row.key == key; };
  if (const auto* const found = std::ranges::find_if(kKeys, is); found != kKeys.end()) return found->action;
  const auto* const other = std::ranges::find_if(kOthers, is);
  return other == kOthers.end() ? Action::None : other->action;
}

}  // namespace fade::cli::top
