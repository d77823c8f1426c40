// What a recording is to hold and where it goes, whether the program is launched or attached to.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/recording.hpp"

namespace fade {

struct RecordingOptions {
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
  std::vector<std::string> ab_rules;    // --ab: like set_rules, and after them

  bool follow = true;            // children of the program
  std::string child_filter;      // --exe REGEX: record only processes whose program matches; empty: all
  std::vector<std::string> only_ranks;  // --only-rank: of processes that have RANK in their environment, only these
  std::string step;  // --step WHAT: what a step of the program is; empty: none
  std::optional<std::int64_t> delay_ns, duration_ns;  // window of recording
  std::optional<std::int64_t> hang_ns;  // a process in which a call runs, and none begins or ends for so long, is looked at

  std::vector<std::string> stacks;          // --stacks: of which calls a stack is taken (StackChoice); empty: as usual
  std::optional<std::int64_t> stack_depth;  // --stack-depth: frames of each
  bool native_stacks = true, python_stacks = true;

  std::string sysfs_root = "/sys";  // where what the GPU driver says is read
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
  std::uint64_t vanished = 0;  // breakpoints that the program took out: calls are missing, and nothing says how many
  std::vector<std::string> libraries;  // GPU libraries found, path (version)
  std::vector<std::pair<std::string, std::uint64_t>> peak_memory;  // device label, bytes
  std::vector<TopFunction> top;        // at most 5, by total time
  std::vector<std::string> postmortems;  // crashes and hangs, a sentence each
  std::vector<std::string> notes;      // sentences the user must see: unwatched children, refused probes, unused rules
};

}  // namespace fade
