#include "cli/query/questions.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "cli/options/values.hpp"
#include "cli/query/command.hpp"
#include "cli/query/report.hpp"

namespace fade::query {
namespace {

// The questions of the help. Reports name theirs in their head; what is no report, or has no head that is shown, stands
// here.
struct Question {
  std::string_view key, text, words;
};
constexpr std::array<Question, 9> kQuestions{
    {{"happened", "what happened?", "summary verdict first-error page diff"},
     {"time", "where did time go?", ""},
     {"memory", "memory?", ""},
     {"work", "work for the GPU?", ""},
     {"devices", "which GPU, libs?", ""},
     {"cuda", "CUDA on ZLUDA?", "porting"},
     {"processes", "processes, ranks?", "merge"},
     {"complete", "is it complete?", "info check"},
     {"own", "your own", "sql shell export import index list reports probes"}}};

bool has_word(std::string_view words, std::string_view word) {
  const auto all = cli::split(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

std::string_view question_of(std::string_view word) {
  const Report* report = find_report(word);
  for (const Question& q : kQuestions)
    if (has_word(q.words, word) || (report && !report->hidden && report->question == q.key)) return q.text;
  return kQuestions.back().text;
}

std::vector<cli::Named> by_question(std::vector<cli::Named> words) {
  std::vector<cli::Named> out;
  for (cli::Named& word : words) word.group = question_of(word.name);
  for (const Question& q : kQuestions)
    std::ranges::copy_if(words, std::back_inserter(out), [&](const cli::Named& word) { return word.group == q.text; });
  return out;
}

}  // namespace

std::vector<cli::Named> words_by_question() {
  static std::vector<cli::Named> out;
  if (!out.empty()) return out;
  for (const Command& c : commands())
    if (c.name == "summary") out.push_back({c.name, c.help});
  for (const Report& r : reports())
    if (!r.hidden) out.push_back({r.name, r.title});
  for (const Command& c : commands())
    if (c.name != "summary" && !is_page(c)) out.push_back({c.name, c.help});
  return out = by_question(std::move(out));
}

}  // namespace fade::query
