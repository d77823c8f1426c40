#include "cli/attach/check_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hanging.hpp"
#include "cli/attach/ending.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::attach {
namespace {

struct Mark {
  std::string_view utf8, ascii, color;
};
// In the order of Check::Verdict.
constexpr std::array<Mark, 3> kMarks{{{"✓", "ok ", "\x1b[32m"}, {"✗", "NO ", "\x1b[31m"}, {"?", "?  ", "\x1b[33m"}}};

std::string line(const Check& check, const recording::Style& style) {
  const Mark& mark = kMarks[static_cast<std::size_t>(check.verdict)];
  const std::string_view sign = style.utf8 ? mark.utf8 : mark.ascii;
  std::string text = fmt::format("  {} {}\n", sign, table::printable(check.what));
  if (!check.cause.empty()) text += fmt::format("      cause: {}\n", table::printable(check.cause));
  if (!check.fix.empty()) text += fmt::format("      fix:   {}\n", table::printable(check.fix));
  text = hanging(text, style.width);
  return style.color ? text.replace(2, sign.size(), fmt::format("{}{}\x1b[0m", mark.color, sign)) : text;
}

bool is_bad(const Check& check) { return check.verdict == Check::Verdict::Bad; }

}  // namespace

std::string check_table(Pid pid, const std::string& name, const std::vector<Check>& checks,
                        const recording::Style& style) {
  const std::string who =
      name.empty() ? fmt::format("process {}", pid) : fmt::format("{} (pid {})", table::printable(name), pid);
  return fmt::format("{} {} be attached to\n", who, std::ranges::any_of(checks, is_bad) ? "cannot" : "can") +
         check_lines(checks, style);
}

std::string check_lines(const std::vector<Check>& checks, const recording::Style& style) {
  std::string text;
  for (const Check& check : checks) text += line(check, style);
  return text;
}

int status_of(const std::vector<Check>& checks) {
  const auto bad = std::ranges::find_if(checks, is_bad);
  return bad == checks.end() ? 0 : status_of(bad->code);
}

}  // namespace fade::cli::attach
