#include "cli/query/several.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "base/log.hpp"
#include "cli/merge/merger.hpp"
#include "cli/query/settings.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // of files that are merged for one report

struct Input {
  std::string path;
  std::int64_t start_ns = 0;  // of its first session
};

// All files are looked at before the first one is copied. Says in which state those are that go on or were cut off.
Result<Input> look_at(const std::string& path) {
  auto recording = open_recording(path);
  if (!recording) return tl::unexpected(recording.error());
  if (recording->state != State::Closed) log::info("{}: {}", table::printable(path), state_text(*recording));
  auto start = recording->database.one("SELECT min(start_ns) FROM sessions");
  if (!start) return tl::unexpected(start.error());
  const auto* ns = std::get_if<std::int64_t>(&*start);
  return Input{path, ns ? *ns : std::numeric_limits<std::int64_t>::max()};
}

// Sessions are numbered in order of time, so that the newest one has the highest number.
Result<std::vector<Input>> look_at_all(const std::vector<std::string>& recordings) {
  std::vector<Input> out;
  for (const std::string& path : recordings) {
    auto input = look_at(path);
    if (!input) return tl::unexpected(input.error());
    out.push_back(std::move(*input));
  }
  std::ranges::stable_sort(out, {}, &Input::start_ns);
  return out;
}

std::int64_t bytes_of(const std::string& path) {
  std::int64_t out = 0;
  struct stat about {};
  for (const char* suffix : {"", "-wal"})
    if (::stat((path + suffix).c_str(), &about) == 0) out += about.st_size;
  return out;
}

Result<void> check_size(const std::vector<std::string>& recordings) {
  std::int64_t all = 0;
  for (const std::string& path : recordings) all += bytes_of(path);
  if (all <= kMostBytes) return {};
  return fail(fmt::format("cannot read {} recordings at once", recordings.size()),
              fmt::format("they have {}, and more than {} would be merged for each report", table::human_bytes(all),
                          table::human_bytes(kMostBytes)),
              "fade-query merge FILES -o all.db      merges them once; then: fade-query all.db");
}

Error out_of_space(Error error) {
  constexpr int kFull = 13;  // SQLITE_FULL
  if ((error.code & 0xff) == kFull && error.fix.empty())
    error.fix = "free space, or use another disk (-o; for reports over several files TMPDIR)";
  return error;
}

Result<Merged> add_all(merge::Merger& merger, const std::vector<std::string>& recordings) {
  auto inputs = look_at_all(recordings);
  if (!inputs) return tl::unexpected(inputs.error());
  Merged out;
  for (const Input& input : *inputs) {
    auto added = merger.add(input.path);
    if (!added) return tl::unexpected(out_of_space(added.error()));
    if (!added->left_out()) out.sessions += added->sessions;
    else log::info("{}: left out, its sessions came with another file already", table::printable(input.path));
  }
  out.files = merger.files();
  out.calls = merger.calls();
  return out;
}

}  // namespace

bool is_pattern(const std::string& word) {
  struct stat about {};
  const bool is_sql = word.find(' ') != word.npos;
  return !is_sql && word.find_first_of("*?[") != word.npos && ::lstat(word.c_str(), &about) != 0;
}

Result<std::vector<std::string>> expanded(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (!is_pattern(word)) {
      out.push_back(word);
      continue;
    }
    glob_t found{};
    const int code = ::glob(word.c_str(), 0, nullptr, &found);
    for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (code != 0)
      return usage("no file matches '" + table::printable(word) + "'", {},
                   "fade-query list      shows the recordings in this directory");
  }
  return out;
}

Result<Merged> merge_files(const std::vector<std::string>& recordings, const std::string& path) {
  auto merger = merge::Merger::create(path);
  if (!merger) return tl::unexpected(out_of_space(merger.error()));
  auto merged = add_all(*merger, recordings);
  if (!merged) return merged;
  auto done = merger->finish();
  return done ? merged : tl::unexpected(out_of_space(done.error()));
}

Result<Recording> open_several(const std::vector<std::string>& recordings) {
  if (auto fine = check_size(recordings); !fine) return tl::unexpected(fine.error());
  auto merger = merge::Merger::create(merge::Merger::kTemporary);
  if (!merger) return tl::unexpected(out_of_space(merger.error()));
  auto merged = add_all(*merger, recordings);
  if (!merged) return tl::unexpected(merged.error());
  auto file = merger->finish();
  if (!file) return tl::unexpected(out_of_space(file.error()));
  log::info("reading {} with {}", table::human_counted(merged->files, "recording"),
            table::human_counted(merged->sessions, "session"));
  const std::string name = name_of_several(recordings);
  auto database = Database::adopt(file->release(), name);
  return database ? as_recording(std::move(*database), name) : tl::unexpected(database.error());
}

std::string name_of_several(const std::vector<std::string>& recordings) {
  return recordings.size() == 1 ? recordings.front()
                                : fmt::format("{} and {} more", recordings.front(), recordings.size() - 1);
}

}  // namespace fade::query
