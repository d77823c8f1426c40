// The keys of fade top: one row each. The help and the bottom line are made of these rows; the manual lists them too.
#pragma once
#include <span>
#include <string_view>

namespace fade::cli::top {

enum class Action { None, Quit, Help, Filter, Order, Process, AllProcesses, Pause, Save, Page, ClearFilter, Redraw };

struct Key {
  int key;
  std::string_view name;  // as the help writes it
  Action action;
  std::string_view brief;  // in the bottom line; empty: not there
  std::string_view help;
};

std::span<const Key> keys();
Action action_of(int key);  // also of Ctrl-C, h and the like, which the help leaves out

}  // namespace fade::cli::top
