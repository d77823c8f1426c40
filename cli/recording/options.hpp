// What the command lines of fade-run and fade-attach have in common: what to record, where to, what to correct. Rows of
// options and the checks that need no program.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "supervisor/recording_options.hpp"

namespace fade::cli::recording {

inline constexpr std::string_view kOutput = "Output", kCapture = "Capture", kStacks = "Stacks",
                                  kProcesses = "Processes", kCorrect = "Corrections", kInject = "Injections",
                                  kDevices = "Devices", kProbes = "Probes";

// What is asked of a recording program besides the recording itself.
struct Request {
  std::optional<bool> summary;  // of the end; not said: as the program does by itself
  std::string summary_by;       // a further table at the end: libraries; empty: none
  bool says_counts = false;     // without a summary: a last sentence with the numbers of calls and errors
  bool verdict = false;         // at the end, whether the GPU was used
  bool page = false;            // at the end, a page for a browser
  bool force = false, append = false;
  std::string detail;        // --detail; empty: as the program does by itself
  bool dry_run = false;      // print the rules
  bool list_probes = false;  // print the catalogue
};

// Where the same option means something else to each program.
struct Wording {
  std::string_view summary, duration;
  std::string_view check = "--check";  // the name of the option that checks products
};

// They point into both arguments.
std::vector<Option> rows(Request& request, RecordingOptions& options, const Wording& wording);

// For programs that run already.
std::vector<Option> cached_rows(RecordingOptions& options);

// Completes the options with the environment's FADE_OUTPUT; an error is one of usage.
Result<void> finish(const Request& request, RecordingOptions& options, const char* default_output);

// Reads --detail into the options; an error is one of usage.
Result<void> read_detail(const Request& request, RecordingOptions& options);

Result<void> check_pattern(const std::string& pattern, std::string_view option);

// For --version: the libraries a recording depends on.
std::string components();

}  // namespace fade::cli::recording
