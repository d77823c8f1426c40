#include "probes/syntax/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/syntax/cursor.hpp"
#include "probes/syntax/declarations.hpp"
#include "probes/syntax/prototype.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kLargestText = 4 * 1024 * 1024;
constexpr std::size_t kMostErrors = 200;  // further errors are not read
constexpr std::size_t kMostErrorsShown = 20;

class Parser {
 public:
  Parser(std::string_view text, std::string_view name, std::shared_ptr<const Types> under)
      : cursor_(text), name_(name), types_(std::make_shared<Types>(std::move(under))) {}

  ParsedFile run() {
    while (!cursor_.at_end() && cursor_.error_count() < kMostErrors) {
      if (cursor_.at_line_end()) {
        cursor_.take();
      } else if (!parse_line()) {
        cursor_.recover();
      }
    }
    ParsedFile out{.probes = std::move(probes_), .types = types_, .errors = cursor_.take_errors()};
    for (Probe& probe : out.probes) probe.types = types_;
    return out;
  }

 private:
  bool parse_line() {
    if (cursor_.sees_word("group")) return parse_section("the name of the group", section_.group);
    if (cursor_.sees_word("api")) return parse_section("the name of the api", section_.api);
    if (cursor_.sees_word("library")) return parse_library();
    if (sees_declaration(cursor_)) return parse_declaration(cursor_, *types_);
    return parse_function();
  }

  bool parse_section(std::string_view what, std::string& into) {
    cursor_.take();
    const auto word = cursor_.expect_word(what);
    if (!word || !cursor_.expect_line_end()) return false;
    into = std::string(word->text);
    return true;
  }

  bool parse_library() {
    cursor_.take();
    if (cursor_.peek().kind != Token::Kind::String || cursor_.peek().text.empty())
      return cursor_.expected("a pattern for the library's file name in quotes, such as \"libfoo.so*\"");
    section_.library = std::string(cursor_.take().text);
    return cursor_.expect_line_end();
  }

  bool parse_function() {
    const Token begin = cursor_.peek();
    std::vector<Probe> read;
    if (!parse_prototype(cursor_, section_, *types_, read)) return false;
    for (Probe& probe : read)
      if (!add(begin, std::move(probe))) return false;
    return true;
  }

  bool add(const Token& begin, Probe probe) {
    const std::uint32_t line = begin.at.line;
    const auto [before, is_new] = lines_.try_emplace(probe.symbol + '\n' + probe.library + '\n' + probe.api, line);
    if (!is_new)
      return cursor_.complain(begin, fmt::format("expected another function: '{}' stands in line {} already",
                                                 probe.symbol, before->second));
    probe.origin = fmt::format("{}:{}", name_, line);
    probes_.push_back(std::move(probe));
    return true;
  }

  Cursor cursor_;
  std::string_view name_;
  std::shared_ptr<Types> types_;
  Section section_;
  std::vector<Probe> probes_;
  std::map<std::string, std::uint32_t> lines_;
};

}  // namespace

ParsedFile parse(std::string_view text, std::string_view name, std::shared_ptr<const Types> under) {
  if (text.size() > kLargestText) {
    ParsedFile out{.types = std::move(under)};
    out.errors.push_back({{}, fmt::format("expected at most {} bytes, the file has {}", kLargestText, text.size())});
    return out;
  }
  return Parser(text, name, std::move(under)).run();
}

Error error_of(const ParsedFile& file, std::string_view name) {
  Error out{.message = fmt::format("{} has {} error{}", name, file.errors.size(), file.errors.size() == 1 ? "" : "s"),
            .fix = "FORMAT.md in share/fade/probes describes the format"};
  for (std::size_t i = 0; i < std::min(file.errors.size(), kMostErrorsShown); ++i) {
    const Diagnostic& error = file.errors[i];
    out.cause +=
        fmt::format("{}{}:{}:{}: {}", i ? "\n         " : "", name, error.at.line, error.at.column, error.message);
  }
  if (file.errors.size() > kMostErrorsShown)
    out.cause += fmt::format("\n         and {} more", file.errors.size() - kMostErrorsShown);
  return out;
}

}  // namespace fade::probes
