// Answers in sentences: a title, then labelled paragraphs, wrapped to the terminal. Texts come from a recording and are
// made printable here.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

std::int64_t integer(const table::Value& value);  // a fraction is cut off; 0 where it is no number

// Lines of at most `width` columns, broken at spaces; a longer word stands alone. width 0: one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// The same text with the recording named in each command of it ("fade-query run.db leaks"), if the user named it.
std::string with_recording(const Context& context, std::string text);

class Prose {
 public:
  explicit Prose(Context& context) : context_(context) {}

  void title(const std::string& words, bool alarming);
  void heading(const std::string& words);
  // "  label     words", the words wrapped beside the label. Nothing where there are no words.
  void entry(std::string_view label, const std::string& words);
  void entry(std::string_view label, const table::Value& words);
  // What to type for another report on the same recording, and why.
  void next(std::string_view report, std::string_view why);
  Result<void> finish();

 private:
  void put(std::string_view words);
  std::size_t width_beside(std::size_t label) const;
  std::string colored(const std::string& words, std::string_view color) const;

  Context& context_;
  std::optional<Error> failed_;
};

}  // namespace fade::query
