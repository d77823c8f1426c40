#include "cli/trace/options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "cli/options/values.hpp"
#include "cli/run/ending.hpp"

namespace fade::cli::trace {
namespace {

constexpr std::string_view kLines = "Lines";
constexpr int kMostStamps = 3;
constexpr std::int64_t kMostCharacters = 1 << 20;
constexpr std::array<std::string_view, 3> kNotHere{"dry-run", "list-probes", "summary"};

}  // namespace

bool Request::attaches() const {
  return !pid_words.empty() || (!words.empty() && std::ranges::all_of(words, is_digits));
}

const Program& program() {
  static const Program kProgram{
      .name = "fade-trace",
      .section = "trace",
      .environment = "FADE_TRACE_OPTIONS",
      .usage = "[OPTIONS] [--] COMMAND [ARGS...] | PID...",
      .about = "Write a line for each HIP call of a program as it happens, and record them.",
      .examples = {{"fade-trace -- python3 train.py", "a line a call on standard error"},
                   {"fade-trace -e mem -o mem.txt -- ./app", "allocations and frees, into mem.txt"},
                   {"fade-trace -z 4242", "calls of a running program that fail"}},
      .words = Words::Command,
      .words_complete = Completes::Process,
      .components = recording::components(),
      .failure_status = run::kOwnFailure};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  const Shown help = Shown::Help;
  std::vector<Option> all{
      {kLines, "-o,--output", "FILE", "write the lines to FILE instead of standard error", Text{&r.lines_to}, help,
       Completes::File},
      {kLines, "-z,--failures", "", "only calls that fail, and those that the end of the program cuts off",
       Flag{&r.failures_only}, help},
      {kLines, "-t,--time", "",
       "the time of day; -tt: with microseconds; -ttt: seconds since 1970 [seconds since the start]", Count{&r.stamps},
       help},
      {kLines, "-s,--string-limit", "N", "characters of an argument [256]", Number{&r.longest, 1, kMostCharacters},
       help},
      {recording::kProcesses, "-p,--pid", "PID", "watch this running process; repeatable", Each{&r.pid_words}, help,
       Completes::Process},
  };
  auto shared =
      recording::rows(r, r.options, {.summary = "", .duration = "watch for TIME, then let the program go on alone"});
  std::erase_if(shared, [](const Option& row) { return std::ranges::find(kNotHere, key(row)) != kNotHere.end(); });
  const auto database = std::ranges::find(shared, std::string_view("output"), key);
  database->names = "--recording";
  std::ranges::move(shared, std::back_inserter(all));
  return all;
}

Result<void> finish(Request& request, std::vector<std::string> words) {
  request.words = std::move(words);
  if (request.words.empty() && request.pid_words.empty())
    return fail("no command and no process given", {},
                "fade-trace [OPTIONS] [--] COMMAND [ARGS...], or: fade-trace PID");
  if (!request.pid_words.empty() && !std::ranges::all_of(request.words, is_digits))
    return fail("a command and --pid exclude each other", {}, "fade-trace -p PID, or: fade-trace -- COMMAND");
  if (auto read = recording::read_detail(request, request.options); !read) return read;
  if (request.stamps > kMostStamps) return fail("-t is given more than three times", {}, "-t, -tt or -ttt");
  return {};
}

Result<run::Request> run_request(const Request& request, const char* default_output) {
  run::Request out;
  static_cast<recording::Request&>(out) = request;
  static_cast<RecordingOptions&>(out.options) = request.options;
  out.summary = false;
  out.says_counts = true;
  if (auto finished = run::finish(out, request.words, default_output); !finished)
    return tl::unexpected(std::move(finished.error()));
  return out;
}

Result<attach::Request> attach_request(const Request& request, const char* default_output) {
  attach::Request out;
  static_cast<recording::Request&>(out) = request;
  static_cast<RecordingOptions&>(out.options) = request.options;
  out.summary = false;
  out.says_counts = true;
  out.live_line = false;
  out.pid_words = request.pid_words;
  if (auto finished = attach::finish(out, request.words, default_output); !finished)
    return tl::unexpected(std::move(finished.error()));
  return out;
}

live::TraceManner manner(const Request& request) {
  std::error_code ignored;
  live::TraceManner out{.folder = std::filesystem::current_path(ignored).string(),
                        .failures_only = request.failures_only,
                        .stamp = static_cast<live::Stamp>(request.stamps),
                        .detail = request.options.detail};
  if (request.longest) out.longest = out.longest_of_full = static_cast<std::size_t>(*request.longest);
  return out;
}

}  // namespace fade::cli::trace
