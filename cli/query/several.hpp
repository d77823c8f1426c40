// Several recordings as one: a merged file that the user wants to keep, or a temporary one that reports read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/query/recording.hpp"

namespace fade::query {

// A word with *, ? or [ that names no file, and is no SQL, becomes the files that match. None is an error.
Result<std::vector<std::string>> expanded(const std::vector<std::string>& words);
bool is_pattern(const std::string& word);

struct Merged {
  std::int64_t files = 0, sessions = 0, calls = 0;
};

// Writes all recordings into `path`, an empty file or none. It says which files were left out, and which are not whole.
Result<Merged> merge_files(const std::vector<std::string>& recordings, const std::string& path);

// The recordings as one, read-only. It cannot be opened again by its path, which is a text for people.
Result<Recording> open_several(const std::vector<std::string>& recordings);

// Such a text: "a.db and 2 more".
std::string name_of_several(const std::vector<std::string>& recordings);

}  // namespace fade::query
