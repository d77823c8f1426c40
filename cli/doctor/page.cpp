#include "cli/doctor/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/query/prose.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::doctor {
namespace {

using fade::doctor::Verdict;

constexpr std::size_t kVerdictWidth = 9, kNameWidth = 16, kNarrowest = 30;
constexpr std::size_t kColumn = 2 + kVerdictWidth + kNameWidth + 2;  // of the texts
constexpr std::string_view kColors[] = {"32", "33", "31", "2"};      // in the order of Verdict
constexpr std::string_view kJsonWords[] = {"ok", "warning", "problem", "none"};

std::string colored(const std::string& text, std::string_view color, const Style& style) {
  return style.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : text;
}

std::size_t index_of(Verdict verdict) { return static_cast<std::size_t>(verdict); }

// Text beside the columns of verdict and name.
std::string beside(const std::string& text, std::size_t column, const Style& style) {
  const std::size_t room =
      style.width == 0 ? 0 : std::max(style.width - std::min<std::size_t>(style.width, column), kNarrowest);
  std::string out;
  for (const std::string& part : query::wrapped(table::printable(text), room))
    out += (out.empty() ? "" : std::string(column, ' ')) + part + "\n";
  return out;
}

// A longer name has a line of its own.
std::string text_of(const Line& line, const Style& style) {
  const std::string word = fmt::format("{:<{}}", fade::doctor::word_for(line.verdict), kVerdictWidth);
  const std::string name = table::printable(line.name), indent(kColumn, ' ');
  std::string out =
      fmt::format("  {}{:<{}}  ", colored(word, kColors[index_of(line.verdict)], style), name, kNameWidth);
  if (name.size() > kNameWidth) out = out.substr(0, out.find_last_not_of(' ') + 1) + "\n" + indent;
  out += beside(line.text, kColumn, style);
  if (!line.fix.empty()) out += indent + "fix: " + beside(line.fix, kColumn + 5, style);
  return out;
}

std::string totals_text(const Totals& totals) {
  const auto number = [](int n, std::string_view word) {
    return n == 0 ? fmt::format("no {}s", word) : fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
  };
  return fmt::format("\n{}, {}\n", number(totals.problems, "problem"), number(totals.warnings, "warning"));
}

}  // namespace

Totals totals_of(const std::vector<Line>& lines) {
  const auto count = [&](Verdict verdict) {
    return static_cast<int>(std::ranges::count(lines, verdict, &Line::verdict));
  };
  return {count(Verdict::Problem), count(Verdict::Warning)};
}

std::string page(const std::string& title, const std::vector<Line>& lines, const Style& style) {
  std::string out = colored(table::printable(title), "1", style) + "\n";
  std::string_view group;
  for (const Line& line : lines) {
    if (line.group != group) out += fmt::format("\n{}\n", colored(std::string(line.group), "1", style));
    group = line.group;
    out += text_of(line, style);
  }
  return out + totals_text(totals_of(lines));
}

std::string json(const std::string& title, const std::vector<Line>& lines) {
  const Totals totals = totals_of(lines);
  nlohmann::ordered_json out{{"fade", FADE_VERSION},
                             {"examined", title},
                             {"problems", totals.problems},
                             {"warnings", totals.warnings},
                             {"checks", nlohmann::ordered_json::array()}};
  for (const Line& line : lines)
    out["checks"].push_back({{"group", line.group},
                             {"name", line.name},
                             {"verdict", kJsonWords[index_of(line.verdict)]},
                             {"text", line.text},
                             {"fix", line.fix.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(line.fix)}});
  return out.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int status_of(const Totals& totals, bool strict) { return totals.problems > 0 || (strict && totals.warnings > 0); }

}  // namespace fade::cli::doctor
