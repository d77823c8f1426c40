#include "cli/options/tokens.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <istream>

#include "base/suggest.hpp"

namespace fade::cli {
namespace {

constexpr std::array<std::string_view, 5> kSections{"run", "attach", "query", "ctl", "daemon"};

void add(CLI::App& app, const Option& row) {
  const std::string names(row.names);
  if (!takes_value(row)) {
    app.add_flag(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return;
  }
  // Without this CLI11 gives a list all words that follow it, the command too.
  app.add_option(names)->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::vector<std::string> spellings(const std::vector<Option>& rows) {
  std::vector<std::string> all;
  for (const Option& row : rows) {
    if (row.shown == Shown::Hidden) continue;
    for (std::string_view name : split(row.names, ',')) all.emplace_back(name.substr(name.starts_with('!')));
  }
  return all;
}

tl::unexpected<Error> unknown_option(const std::vector<Option>& rows, std::string_view word) {
  const std::string name(word.substr(0, word.find('=')));
  return fail("unknown option '" + name + "'" + did_you_mean(name, spellings(rows)));
}

// "--output: 1 required  missing" is all that CLI11 says.
tl::unexpected<Error> parse_failure(const std::vector<Option>& rows, const CLI::ParseError& error) {
  const std::string what = error.what();
  const std::string name = what.substr(0, what.find_first_of(": "));
  for (const Option& row : rows)
    for (const std::string_view spelling : split(row.names, ','))
      if (spelling == name) return fail("option '" + name + "' needs a value: " + name + " " + std::string(row.value));
  return fail(what);
}

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-' && word != "--"; }

// What CLI11 did not take for an option. The first "--" ends the options and is dropped.
Result<std::vector<std::string>> plain_words(const std::vector<Option>& rows, Words kind,
                                             std::vector<std::string> rest) {
  for (auto word = rest.begin(); word != rest.end(); ++word) {
    if (*word == "--") {
      rest.erase(word);
      break;
    }
    if (looks_like_option(*word)) return unknown_option(rows, *word);
    if (kind == Words::Command) break;
  }
  if (kind == Words::None && !rest.empty()) return fail("unexpected argument '" + rest.front() + "'");
  return rest;
}

const Option* find(const std::vector<Option>& rows, std::string_view name) {
  const auto row =
      std::ranges::find_if(rows, [&](const Option& o) { return o.shown != Shown::Hidden && key(o) == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::vector<std::string> keys(const std::vector<Option>& rows, bool general_only) {
  std::vector<std::string> all;
  for (const Option& row : rows)
    if (row.shown != Shown::Hidden && (!general_only || row.group == kGeneral)) all.emplace_back(key(row));
  return all;
}

Result<void> take_item(const std::vector<Option>& rows, std::string_view section, const CLI::ConfigItem& item,
                       Given& given) {
  if (item.name == "++" || item.name == "--") return {};  // CLI11's marks for the begin and end of a section
  const bool top = item.parents.empty();
  if (!top && std::ranges::find(kSections, item.parents.front()) == kSections.end())
    return fail("unknown section [" + item.parents.front() + "]", {}, "the sections are [run], [attach] and [query]");
  if (!top && item.parents.front() != section) return {};
  const Option* row = find(rows, item.name);
  if (row == nullptr || (top && row->group != kGeneral) || item.parents.size() > 1)
    return fail("unknown key '" + item.fullname() + "'" + did_you_mean(item.name, keys(rows, top)));
  auto& values = given.values[static_cast<std::size_t>(row - rows.data())];
  values.insert(values.end(), item.inputs.begin(), item.inputs.end());
  return {};
}

}  // namespace

namespace {

// CLI11 takes "-w1" for two flags; here it is --watch=1.
void join_values(const std::vector<Option>& rows, Words words, std::vector<std::string>& arguments) {
  for (std::string& word : arguments) {
    if (word == "--" || (words == Words::Command && !looks_like_option(word))) return;
    if (word.size() < 3 || word[0] != '-' || word[1] == '-' || word[2] < '0' || word[2] > '9') continue;
    for (const Option& row : rows)
      if (std::holds_alternative<MaybeText>(row.target) && row.names.starts_with(word.substr(0, 2) + ","))
        word = "--" + std::string(key(row)) + "=" + word.substr(2);
  }
}

}  // namespace

Result<Given> read_arguments(const std::vector<Option>& rows, Words words, std::vector<std::string> arguments) {
  CLI::App app;
  app.set_help_flag();
  if (words == Words::Command) app.prefix_command();
  else app.allow_extras();
  for (const Option& row : rows) add(app, row);
  join_values(rows, words, arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return parse_failure(rows, error);
  }
  auto rest = plain_words(rows, words, app.remaining());
  if (!rest) return tl::unexpected(rest.error());
  Given given{{}, std::move(*rest)};
  for (const CLI::Option* option : app.get_options()) given.values.push_back(option->results());
  return given;
}

namespace {

// Where a quoted word begins that never ends; npos: all do. A quote in the middle of a word is a character like any
// other.
std::size_t open_quote(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f", kQuotes = "'\"`";
  for (std::size_t at = text.find_first_not_of(kBlanks); at != text.npos; at = text.find_first_not_of(kBlanks, at)) {
    if (kQuotes.find(text[at]) == kQuotes.npos) {
      at = text.find_first_of(kBlanks, at);
      if (at == text.npos) return at;
      continue;
    }
    std::size_t end = text.find(text[at], at + 1);
    while (end != text.npos && text[end - 1] == '\\') end = text.find(text[at], end + 1);
    if (end == text.npos) return at;
    at = end + 1;
  }
  return text.npos;
}

}  // namespace

Result<std::vector<std::string>> split_words(const std::string& text) {
  if (const std::size_t open = open_quote(text); open != text.npos)
    return fail("a quote is not closed: " + text.substr(open));
  std::vector<std::string> words = CLI::detail::split_up(text);
  std::erase(words, "");
  return words;
}

Result<Given> read_config(const std::vector<Option>& rows, std::string_view section, std::istream& text) {
  Given given;
  given.values.resize(rows.size());
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(text))
      if (auto taken = take_item(rows, section, item, given); !taken) return tl::unexpected(taken.error());
  } catch (const CLI::Error& error) {
    return fail(error.what());
  }
  return given;
}

}  // namespace fade::cli
