// The content and the place of a recording, whether the program is launched or attached to.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/batch_reader.hpp"
#include "base/detail_levels.hpp"
#include "base/recording.hpp"

namespace fade {

struct RecordingOptions {          // one command line: a field is the value of one option
  std::vector<std::string> typed;  // the options as the user typed them, for the recording to tell

  std::string output;  // template with %p %h %r %t %n %e %q{ENV}; empty: fade-%e-%p.db
  OpenMode open_mode = OpenMode::Create;
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
  OnFull on_full = OnFull::Stats;
  DetailLevels detail;
  // nullopt: Auto for a program that fade starts, Breakpoints for one that runs already: DECISIONS 144
  std::optional<CaptureEngine> engine;  // --engine
  std::string budget;                   // --budget: what fade may cost the program, in percent; empty: no limit

  std::vector<std::string> events;   // -e: groups and -groups
  std::vector<std::string> include;  // regular expressions on function names
  std::vector<std::string> exclude;
  std::vector<std::string> kernel_include,
      kernel_exclude;                      // regular expressions on kernel names: which launches are stored as rows
  std::vector<std::string> probe_files;    // --probes FILE
  std::vector<std::string> probe_symbols;  // --probe LIB:FUNCTION

  std::vector<std::string> set_rules;   // --set SPEC
  std::vector<std::string> rule_files;  // --override-file FILE
  std::vector<std::string> ab_rules;    // --ab: like set_rules, and after them

  bool find_cached = false;  // --find-cached: look for copies of device properties in the memory of running programs
  bool set_cached = false;   // --set-cached: and make them what set_rules say

  std::vector<std::string> inject_rules;   // --inject SPEC
  std::vector<std::string> replace_rules;  // --replace SPEC
  std::vector<std::string> inject_plans;   // --inject-plan FILE: rules of both kinds
  std::optional<std::int64_t> seed;        // --seed: of chance=; none: by the clock
  bool replaces_dry = false;               // --replace-dry

  std::string check;             // --check: blas, and how; empty: nothing
  std::string numbers;           // --watch-numbers: numbers to look for in the host's side of copies; empty: none
  std::string actions;           // --actions FILE: the work to do when calls have returned
  bool operator_shapes = false;  // --operator-shapes: of the tensors that operators of PyTorch take
  bool gpu_times = false;        // --gpu-times: when the GPU worked on kernels and copies
  bool follow = true;            // children of the program
  std::string child_filter;      // --exe REGEX: record only processes with a matching executable path; empty: all
  std::vector<std::string> only_ranks;  // --only-rank: of processes that have RANK in their environment, only these
  std::string step;                     // --step WHAT: the definition of a step of the program; empty: none
  // At most one of these three: when rows of calls are stored. Empty: at all times.
  std::string schedule;                               // --schedule: in chosen steps
  std::string window;                                 // --window PERIOD/DETAIL: by time
  std::vector<std::string> triggers;                  // --trigger: around moments of trouble
  std::optional<std::int64_t> keep_ns;                // --keep: so long before and after a trigger
  std::optional<std::int64_t> delay_ns, duration_ns;  // window of recording
  std::optional<std::int64_t>
      hang_ns;  // a process in which a call runs, and none begins or ends for so long, is looked at

  std::vector<std::string> stacks;          // --stacks: of which calls a stack is taken (StackChoice); empty: as usual
  std::optional<std::int64_t> stack_depth;  // --stack-depth: frames of each
  bool native_stacks = true, python_stacks = true;

  std::optional<std::int64_t> sample_hz;  // --sample: looks a second at threads that are in no call

  std::vector<BatchReader*> readers;  // follow the recording; they outlive it

  bool sensors = true;              // --sensors: read the GPUs' sensors
  std::string sysfs_root = "/sys";  // here the GPU driver's data are read
};

struct TopFunction {
  std::string name;
  std::uint64_t calls = 0, errors = 0;
  std::int64_t total_ns = 0;
  std::uint64_t untimed = 0;  // of the calls, those that are not in total_ns
};

// The cost of fade for the program, all threads added up if not said otherwise.
struct CostSummary {
  bool is_measured = false;     // the kernel's share of a stop; if not, the figures are without it
  std::uint64_t threads = 0;    // that were stopped
  std::uint64_t callers = 0;    // threads that made recorded calls; 0: not counted
  std::int64_t calls_ns = 0;    // by the stops of recorded calls
  std::uint64_t tapped = 0;     // calls without a stop, recorded or only counted
  std::int64_t taps_ns = 0;     // by these
  std::int64_t other_ns = 0;    // by other stops: the start of programs, loading of libraries
  std::int64_t busiest_ns = 0;  // of the thread that was stopped longest
  std::int64_t life_ns = 0;     // from the begin of the first process to the end of the last one
};

// The content of the end block: a field is a part of it.
struct RunSummary {
  std::string database;
  std::int64_t duration_ns = 0;  // of the program's life; of the recording where the program runs on
  std::uint64_t calls = 0, errors = 0, dropped = 0, overrides_applied = 0;
  std::uint64_t launches = 0;
  std::int64_t gpu_busy_ns = 0;  // by --gpu-times, devices added up
  std::uint64_t injected = 0;    // actions of --inject and --replace
  std::uint64_t stops = 0;
  std::int64_t stopped_ns = 0;  // threads held by stops, all threads added up
  CostSummary cost;
  std::uint64_t processes = 0, threads = 0;
  std::uint64_t helpers = 0;  // processes that are left out of both (the column `helper` of the report processes)
  std::uint64_t functions_armed = 0;
  bool is_filtered = false;    // functions, launches, processes or times were left out on purpose
  std::uint64_t vanished = 0;  // breakpoints that the program took out: calls are missing, and nothing says how many
  std::vector<std::string> libraries;                              // GPU libraries found, path (version)
  std::vector<std::pair<std::string, std::uint64_t>> peak_memory;  // device label, bytes
  std::vector<TopFunction> top;                                    // at most 5, by total time
  std::vector<std::string> postmortems;                            // crashes and hangs, a sentence each
  std::vector<std::string> notes;  // sentences the user must see: unwatched children, refused probes, unused rules
};

}  // namespace fade
