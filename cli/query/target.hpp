// The words of a command line: first the recordings, then a report or a command, then the words of that report or
// command.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/query/command.hpp"
#include "cli/query/report.hpp"

namespace fade::query {

struct Target {
  std::string path;                // empty: none was named, or several
  std::vector<std::string> paths;  // of several recordings
  const Report* report = nullptr;  // one of the two is set, or both: a report and its page
  const Command* command = nullptr;
  std::vector<std::string> words;
};

// Names of reports and commands as a user may type them; other words for reports ("hotspots") are known and not listed.
std::vector<std::string> known_names();
bool is_known_name(const std::string& word);

Result<Target> read_words(const std::vector<std::string>& words);
// $FADE_OUTPUT, else the newest recording of the current directory.
Result<std::string> default_recording(const char* fade_output, const std::string& directory);

}  // namespace fade::query
