// Runs one program under supervision from start to end: what fade-run is made of. Owns the tracing loop, the
// session and the writer; returns when the program has ended (or was let go) and the database is closed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/recording.hpp"
#include "base/result.hpp"

namespace fade {

struct RunOptions {
  std::vector<std::string> command;  // argv of the program; command[0] is looked up in PATH
  std::vector<std::string> environment_changes;  // VAR=VALUE sets, VAR unsets
  std::string directory;                         // chdir of the program; empty: ours

  std::string output;   // template with %p %h %t %n %e %q{ENV}; empty: fade-%e-%p.db
  OpenMode open_mode = OpenMode::Create;
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
  OnFull on_full = OnFull::Stats;
  Detail detail = Detail::Calls;

  std::vector<std::string> events;   // -e: groups and -groups
  std::vector<std::string> include;  // regular expressions on function names
  std::vector<std::string> exclude;
  std::vector<std::string> kernel_include, kernel_exclude;  // regular expressions on kernel names: which launches are stored as rows
  std::vector<std::string> probe_files;    // --probes FILE
  std::vector<std::string> probe_symbols;  // --probe LIB:FUNCTION

  std::vector<std::string> set_rules;   // --set SPEC
  std::vector<std::string> rule_files;  // --override-file FILE

  bool follow = true;            // children of the program
  std::string child_filter;      // --exe REGEX: record only processes whose program matches; empty: all
  std::vector<std::string> only_ranks;  // --only-rank: of processes that have RANK in their environment, only these
  bool kill_on_exit = false;     // PTRACE_O_EXITKILL
  std::optional<std::int64_t> delay_ns, duration_ns;  // window of recording
};

struct TopFunction {
  std::string name;
  std::uint64_t calls = 0, errors = 0;
  std::int64_t total_ns = 0;
};

// What the end block prints.
struct RunSummary {
  std::string database;
  std::int64_t duration_ns = 0;
  std::uint64_t calls = 0, errors = 0, dropped = 0, overrides_applied = 0;
  std::uint64_t stops = 0;
  std::int64_t stopped_ns = 0;      // threads held by stops, all threads added up
  std::uint64_t processes = 0, threads = 0;
  std::uint64_t functions_armed = 0;
  std::vector<std::string> libraries;  // GPU libraries found, path (version)
  std::vector<std::pair<std::string, std::uint64_t>> peak_memory;  // device label, bytes
  std::vector<TopFunction> top;        // at most 5, by total time
  std::vector<std::string> notes;      // sentences the user must see: unwatched children, refused probes, unused rules
};

struct RunOutcome {
  int exit_code = 0;    // of the program
  int exit_signal = 0;  // set where it died of a signal
  bool let_go = false;  // detached from before its end
  RunSummary summary;
};

// Called on the tracing thread as soon as the program is running and the database is open.
using OnStarted = void (*)(const std::string& program, int pid, const std::string& database);

// Fails only if the program could not be started or may not be traced, or the database cannot be created; error.code
// is ENOENT / EACCES for the program (exit statuses 127 / 126), anything else is fade's own failure (125).
// Everything the options name is checked before the program is started.
Result<RunOutcome> run(const RunOptions& options, OnStarted on_started);

// What --dry-run prints: the rules as resolved, one line each.
Result<std::vector<std::string>> resolved_rules(const RunOptions& options);

}  // namespace fade
