// A regular expression of a command line, in ECMAScript's syntax. Users of this class do not name std::regex, which
// makes a source four seconds longer to compile. For texts of others in a daemon: service/pattern.hpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace fade {

class Regex {
 public:
  static constexpr std::size_t kMostMatched = 4096;  // bytes of a text: std::regex recurses once per character

  // The error is the cause, in the words of the C++ library. Copies share the expression; any thread may match.
  static tl::expected<Regex, std::string> compile(const std::string& text);
  bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  explicit Regex(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace fade
