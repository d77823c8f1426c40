// The arguments of a call, which a recording keeps as a JSON object, one by one.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/timeline/timeline.hpp"

namespace fade::timeline {

// Numbers, texts and truth values become values; objects and arrays inside stay JSON. A text that is no object becomes
// one argument "text".
class CallArguments {
 public:
  static constexpr std::size_t kMost = 100;  // arguments; more are left out, and an argument says so

  // What it returns holds until the next call.
  std::span<const Argument> read(std::string_view json);

 private:
  friend struct ArgumentHandler;
  std::string_view keep(std::string text);

  std::deque<std::string> texts_;  // what the arguments point to
  std::vector<Argument> arguments_;
};

}  // namespace fade::timeline
