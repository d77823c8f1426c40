#include "cli/query/target.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

bool is_known(const std::string& word) {
  const Report* r = find_report(word);
  return (r && !r->hidden) || find_command(word);
}

// A report's name wins over a file of that name: write ./top for the file.
bool names_file(const std::string& word) {
  if (word.find('/') != std::string::npos || word.ends_with(".db")) return true;
  struct stat s{};
  return !is_known(word) && ::stat(word.c_str(), &s) == 0;
}

std::vector<std::string> known_names() {
  std::vector<std::string> out;
  for (const Report& r : reports())
    if (!r.hidden) out.push_back(r.name);
  for (const Command& c : commands())
    if (!is_page(c)) out.emplace_back(c.name);
  return out;
}

std::size_t most_words(const Target& t) { return t.command ? t.command->most_words : t.report->knows("word") ? 1 : 0; }

// `fade-query export run.db`: one word too many, and it can only be the recording.
void take_path_from_end(Target& t) {
  const bool one_too_many = t.path.empty() && t.words.size() == most_words(t) + 1;
  if (!one_too_many || (t.command && t.command->alone) || !t.words.back().ends_with(".db")) return;
  t.path = std::move(t.words.back());
  t.words.pop_back();
}

Result<void> check_words(const Target& t) {
  const std::size_t most = most_words(t);
  if (t.words.size() <= most) return {};
  const std::string name = t.command ? std::string(t.command->name) : t.report->name;
  return usage("cannot understand '" + table::printable(t.words[most]) + "' after " + name, "the order is: fade-query [RECORDING] [REPORT] [OPTIONS]",
               name == "sql" ? "put the statement into quotes" : "fade-query " + name);
}

}  // namespace

Result<Target> read_words(const std::vector<std::string>& words) {
  Target t;
  auto at = words.begin();
  if (at != words.end() && names_file(*at)) t.path = *at++;
  const std::string name = at != words.end() ? *at++ : "summary";
  t.command = find_command(name);
  t.report = find_report(name);
  if (t.report && t.report->hidden) t.report = nullptr;
  if (!t.command && !t.report) {
    const std::string near = nearest(name, known_names());
    return usage("there is no report '" + table::printable(name) + "'", near.empty() ? "" : "the nearest is " + near,
                 near.empty() ? "fade-query reports      lists them" : "fade-query " + near);
  }
  t.words.assign(at, words.end());
  take_path_from_end(t);
  if (auto fine = check_words(t); !fine) return tl::unexpected(fine.error());
  return t;
}

Result<std::string> default_recording(const char* fade_output, const std::string& directory) {
  if (fade_output && *fade_output) return std::string(fade_output);
  const std::vector<FoundFile> found = recordings_in(directory);
  if (!found.empty()) return found.front().path;
  return fail("there is no recording here", "the current directory has no fade-*.db, and FADE_OUTPUT is not set",
              "fade-run -- PROGRAM      makes one; or: fade-query FILE.db");
}

}  // namespace fade::query
