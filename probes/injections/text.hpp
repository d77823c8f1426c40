// The grammar of a rule, cut into its parts: HEAD[/FILTER...][:KEY=VALUE...]. Names and values are not checked here.
// Also cuts a plan into rules.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::probes {

// One rule as the user wrote it, and where: an option, or FILE:LINE with the column of its first character.
struct InjectionText {
  std::string text;
  std::string origin = "--inject";
  std::size_t column = 0;  // 0: the rule is in no file
};

// KEY, OPERATOR and VALUE; a word alone has no operator. `at`: offset in the rule.
struct RulePart {
  std::string_view key, op, value;
  std::size_t at = 0;

  std::size_t value_at() const { return at + key.size() + op.size(); }
};

// At least one part. All parts are views into `text`.
std::vector<RulePart> parts_of(std::string_view text);

// The rules of a plan, one a line. Empty lines are skipped. A '#' at the beginning of a line or after a blank begins a
// comment.
std::vector<InjectionText> plan_in(std::string_view content, const std::string& file);
// Reads at most 1 MiB.
Result<std::vector<InjectionText>> plan_from_file(const std::string& path);

// "--inject 'hipMaloc:error=2'", "plan.txt:3:5: 'hipMaloc:error=2'": for messages. `at`: offset of the wrong part.
std::string place_text(const InjectionText& rule, std::size_t at);

}  // namespace fade::probes
