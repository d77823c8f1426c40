#include "cli/query/target.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "cli/query/several.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

// Other tools' words for what a report answers.
struct Synonym {
  std::string_view word, report;
};
constexpr Synonym kSynonyms[] = {
    {"hotspots", "top"},        {"functions", "top"},
    {"profile", "top"},         {"hot", "top"},
    {"crash", "postmortem"},    {"crashes", "postmortem"},
    {"hang", "postmortem"},     {"hangs", "postmortem"},
    {"deadlock", "postmortem"}, {"backtrace", "postmortem"},
    {"gpus", "devices"},        {"device", "devices"},
    {"memory-leaks", "leaks"},  {"gpu-time", "gpu"},
    {"leak", "leaks"},          {"out-of-memory", "oom"},
    {"mem", "memory"},          {"failures", "errors"},
    {"error", "errors"},        {"flamegraph", "flame"},
    {"flame-graph", "flame"},   {"stack", "stacks"},
    {"backtraces", "stacks"},   {"stragglers", "ranks"},
    {"rank", "ranks"},          {"kernel", "kernels"},
    {"memcpy", "copies"},       {"transfers", "copies"},
    {"compare", "diff"},        {"diagnose", "findings"},
    {"diagnosis", "findings"},  {"problems", "findings"},
    {"version", "info"},        {"html", "page"},
    {"report", "page"},         {"web", "page"},
    {"server", "serve"},        {"browse", "serve"},
};

// Words of other tools, and the commands of fade that do the same.
struct Missing {
  std::string_view word, nearest;
};
constexpr Missing kMissing[] = {
    {"timeline", "fade-query export      writes a timeline for Perfetto; fade-query page draws one"},
    {"perfetto", "fade-query export      writes a file for it: --format perfetto"},
    {"chrome", "fade-query export      writes a file for it: --format chrome"},
    {"live",
     "fade top      shows it in a terminal; fade-query serve shows it in a browser; fade-trace writes each call"},
};

std::string report_for(const std::string& word) {
  for (const Synonym& s : kSynonyms)
    if (s.word == word) return std::string(s.report);
  return word;
}

bool is_own_name(const std::string& name) {
  const Report* r = find_report(name);
  return (r && !r->hidden) || find_command(name);
}

// A report's name wins over a file of that name: write ./top for the file. Other tools' words do not.
bool names_file(const std::string& word) {
  if (word.find('/') != std::string::npos || word.ends_with(".db") || is_pattern(word)) return true;
  struct stat s {};
  if (is_own_name(word) || ::stat(word.c_str(), &s) != 0) return false;
  return !is_known_name(word) || S_ISREG(s.st_mode);
}

// A word that names neither a file nor a report. A second word that is a report makes it a recording's name.
tl::unexpected<Error> unknown_word(const std::string& name, const std::string& second) {
  const std::string shown = table::printable(name);
  const auto* const missing = std::ranges::find(kMissing, name, &Missing::word);
  if (missing != std::end(kMissing))
    return usage("fade has no report '" + shown + "'", {}, std::string(missing->nearest));
  if (!is_known_name(second))
    return usage("there is no report '" + shown + "'" + did_you_mean(name, known_names()), {},
                 "fade-query reports      lists them");
  struct stat s {};
  const std::string file = name + ".db";
  if (::stat(file.c_str(), &s) != 0)
    return usage("there is no file or report '" + shown + "'", {}, "fade-query list      shows the recordings here");
  return usage("there is no file or report '" + shown + "' (did you mean '" + table::printable(file) + "'?)", {},
               "fade-query " + table::printable(file) + " " + second);
}

std::size_t most_words(const Target& t) { return t.command ? t.command->most_words : t.report->knows("word") ? 1 : 0; }

bool looks_like_recording(const std::string& word) {
  return word.ends_with(".db") || is_pattern(word) || is_recording(word);
}

// `fade-query export run.db`: words too many, which can only be recordings.
void take_paths_from_end(Target& t) {
  const std::size_t most = most_words(t);
  if (!t.paths.empty() || t.words.size() <= most || (t.command && t.command->alone)) return;
  const auto first = t.words.begin() + static_cast<std::ptrdiff_t>(most);
  if (!std::all_of(first, t.words.end(), looks_like_recording)) return;
  t.paths.assign(first, t.words.end());
  t.words.erase(first, t.words.end());
}

Result<void> settle_paths(Target& t) {
  if (t.command && t.command->most_words == kAnyNumber)
    t.words.insert(t.words.begin(), t.paths.begin(), t.paths.end()), t.paths.clear();
  auto paths = expanded(t.paths);
  if (!paths) return tl::unexpected(paths.error());
  t.paths = std::move(*paths);
  if (t.paths.size() > 1 && t.command && t.command->takes_one)
    return usage(std::string(t.command->name) + " takes one recording, not " + std::to_string(t.paths.size()), {},
                 "fade-query merge FILES -o all.db      makes one of them");
  if (t.paths.size() != 1) return {};
  t.path = std::move(t.paths.front());
  t.paths.clear();
  return {};
}

Result<void> check_words(const Target& t) {
  const std::size_t most = most_words(t);
  if (t.words.size() <= most) return {};
  const std::string name = t.command ? std::string(t.command->name) : t.report->name;
  return usage("cannot understand '" + table::printable(t.words[most]) + "' after " + name,
               "the order is: fade-query [RECORDING] [REPORT] [OPTIONS]",
               name == "sql" ? "put the statement into quotes" : "fade-query " + name);
}

}  // namespace

std::vector<std::string> known_names() {
  std::vector<std::string> out;
  for (const Report& r : reports())
    if (!r.hidden) out.push_back(r.name);
  for (const Command& c : commands())
    if (!is_page(c)) out.emplace_back(c.name);
  return out;
}

bool is_known_name(const std::string& word) { return is_own_name(report_for(word)); }

Result<Target> read_words(const std::vector<std::string>& words) {
  Target t;
  auto at = words.begin();
  while (at != words.end() && names_file(*at)) t.paths.push_back(*at++);
  const std::string word = at != words.end() ? *at++ : "summary", name = report_for(word);
  t.command = find_command(name);
  t.report = find_report(name);
  if (t.report && t.report->hidden) t.report = nullptr;
  if (!t.command && !t.report) return unknown_word(word, at != words.end() ? *at : std::string());
  t.words.assign(at, words.end());
  take_paths_from_end(t);
  if (auto fine = check_words(t); !fine) return tl::unexpected(fine.error());
  if (auto fine = settle_paths(t); !fine) return tl::unexpected(fine.error());
  return t;
}

Result<std::string> default_recording(const char* fade_output, const std::string& directory) {
  if (fade_output && *fade_output) return std::string(fade_output);
  const std::vector<FoundFile> found = recordings_in(directory);
  if (!found.empty()) return found.front().path;
  return fail("there is no recording here",
              "no file of the current directory is a recording, and FADE_OUTPUT is not set",
              "fade-run -- PROGRAM      makes one; or: fade-query FILE.db");
}

}  // namespace fade::query
