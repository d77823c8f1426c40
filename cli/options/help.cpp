#include "cli/options/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "schema/schema.hpp"

namespace fade::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 30;  // where explanations begin

// "-o, --output FILE", "-c, --summary[=WORD] / --no-summary"
std::string shown_names(const Option& row) {
  std::string text;
  std::string_view value = row.value;
  for (std::string_view name : split(row.names, ',')) {
    const bool negative = name.starts_with('!');
    if (negative) text += std::exchange(value, {});
    if (!text.empty()) text += negative ? " / " : ", ";
    text += name.substr(negative ? 1 : 0);
  }
  if (text.starts_with("--")) text.insert(0, "    ");
  if (takes_value(row)) text += ' ';
  return text += value;
}

// `text` from `column` on, broken between words.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (used > 0 && column + used + 1 + word.size() > kWidth) {
      out += '\n' + std::string(column, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
  }
  return out;
}

std::string entry(const std::string& left, std::string_view right) {
  std::string line = "  " + left;
  if (line.size() + 2 > kColumn) line += '\n' + std::string(kColumn, ' ');
  else line.resize(kColumn, ' ');
  return line + wrapped(right, kColumn) + '\n';
}

std::string head(const Program& program) {
  return fmt::format("usage: {} {}\n{}\n", program.name, program.usage, wrapped(program.about, 0));
}

std::string group(std::string_view title, const std::vector<Option>& rows, bool all) {
  std::string text;
  for (const Option& row : rows)
    if (row.group == title && (row.shown == Shown::Help || (all && row.shown == Shown::HelpAll)))
      text += entry(shown_names(row), row.help);
  return text.empty() || !all ? text : fmt::format("\n{}:\n{}", title, text);
}

std::vector<std::string_view> titles(const std::vector<Option>& rows) {
  std::vector<std::string_view> all;
  for (const Option& row : rows)
    if (std::ranges::find(all, row.group) == all.end()) all.push_back(row.group);
  return all;
}

std::string options(const std::vector<Option>& rows, bool all) {
  std::string text;
  for (const std::string_view title : titles(rows)) text += group(title, rows, all);
  return text;
}

// "  memory?            leaks  oom  allocs", a heading for each group, in the order in which they come.
std::string words_by_group(const std::vector<Named>& words) {
  constexpr std::size_t kHeading = 21;
  std::vector<std::string_view> groups;
  for (const Named& word : words)
    if (std::ranges::find(groups, word.group) == groups.end()) groups.push_back(word.group);
  std::string text;
  for (const std::string_view group : groups) {
    std::string names;
    for (const Named& word : words)
      if (word.group == group) names += (names.empty() ? "" : " ") + std::string(word.name);
    text += fmt::format("  {:<{}}{}\n", group, kHeading - 2, wrapped(names, kHeading));
  }
  return text;
}

std::string known_words(const Program& program, bool all) {
  if (program.known_words.empty()) return {};
  std::string text = fmt::format("\n{}:\n", program.words_title);
  if (all) {
    for (const Named& word : program.known_words) text += entry(std::string(word.name), word.help);
    return text;
  }
  if (!program.known_words.front().group.empty()) return text + words_by_group(program.known_words);
  std::string line = " ";
  for (const Named& word : program.known_words) {
    if (line.size() + word.name.size() + 1 > kWidth) {
      text += line + '\n';
      line = " ";
    }
    line += ' ' + std::string(word.name);
  }
  return text + line + '\n';
}

std::string examples(const Program& program, std::size_t most) {
  std::string text = "\nExamples:\n";
  for (std::size_t i = 0; i < std::min(most, program.examples.size()); ++i)
    text += fmt::format("  {}\n      {}\n", program.examples[i].name, program.examples[i].help);
  return program.examples.empty() ? std::string() : text;
}

const char* completes_name(Completes completes) {
  constexpr const char* kNames[] = {"nothing", "file", "directory", "command", "process"};
  return kNames[static_cast<std::size_t>(completes)];
}

nlohmann::json row_json(const Option& row) {
  nlohmann::json out;
  for (std::string_view name : split(row.names, ','))
    out["names"].push_back(std::string(name.substr(name.starts_with('!'))));
  out["group"] = row.group;
  out["value"] = row.value;
  out["takes_word"] = takes_value(row);
  out["help"] = row.help;
  out["completes"] = completes_name(row.completes);
  out["repeats"] = std::holds_alternative<List>(row.target) || std::holds_alternative<Each>(row.target) ||
                   std::holds_alternative<Count>(row.target);
  const auto* text = std::get_if<Text>(&row.target);
  out["list"] = std::holds_alternative<List>(row.target) || (text != nullptr && text->is_list);
  const auto* choice = std::get_if<Choice>(&row.target);
  out["words"] = choice != nullptr ? choice->names : row.hints;
  return out;
}

nlohmann::json named_json(const std::vector<Named>& list) {
  nlohmann::json out = nlohmann::json::array();
  for (const Named& item : list) out.push_back({{"name", item.name}, {"help", item.help}});
  return out;
}

}  // namespace

std::string short_help(const Program& program, const std::vector<Option>& rows) {
  std::string text = head(program) + '\n' + options(rows, false) + known_words(program, false);
  if (!program.examples.empty()) text += fmt::format("\nExample: {}\n", program.examples.front().name);
  return text + fmt::format("More: {0} --help-all, man {0}\n", program.name);
}

std::string full_help(const Program& program, const std::vector<Option>& rows) {
  return head(program) + options(rows, true) + known_words(program, true) + examples(program, 4) +
         fmt::format("\nManual: man {}\n", program.name);
}

std::string version_line(const Program& program) {
  return fmt::format("{} {} (schema {}{}{})\n", program.name, FADE_VERSION, schema::kVersion,
                     program.components.empty() ? "" : ", ", program.components);
}

std::string description_json(const Program& program, const std::vector<Option>& rows) {
  nlohmann::json out{
      {"name", program.name}, {"usage", program.usage}, {"about", program.about}, {"version", FADE_VERSION}};
  out["examples"] = named_json(program.examples);
  out["words"] = named_json(program.known_words);
  out["takes_command"] = program.words == Words::Command;
  out["words_complete"] = completes_name(program.words_complete);
  out["options"] = nlohmann::json::array();
  for (const std::string_view title : titles(rows))
    for (const Option& row : rows)
      if (row.group == title && row.shown != Shown::Hidden) out["options"].push_back(row_json(row));
  return out.dump(1) + '\n';
}

}  // namespace fade::cli
