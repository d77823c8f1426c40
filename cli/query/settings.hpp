// What the user asked for: the values of fade-query's options, and the table of options that fills them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options/option.hpp"
#include "cli/query/report.hpp"
#include "cli/table/formats.hpp"
#include "cli/table/value.hpp"

namespace fade::query {

struct Settings {  // one command line: a field is the value of one option, and a command reads those that it needs
  std::optional<table::Format> format;
  std::vector<std::string> columns;
  std::string sort, where, output;
  std::optional<std::int64_t> limit;  // 0: all
  bool no_header = false, no_pager = false, force = false, sql = false, abs_time = false;
  table::Units units = table::Units::Auto;
  std::optional<std::string> watch;
  std::optional<std::int64_t> timeout_ns;
  bool may_leave_out = false;   // though columns are named, those that do not fit or have nothing may go
  bool tell_waiting = false;    // on stderr, where that is a terminal
  bool rows_elsewhere = false;  // no terminal shows the rows

  // Filters: which of them a report knows is told by the parameters in its SQL.
  std::optional<std::int64_t> stack, pid, rank, tid, device, from_ns, to_ns, slower_than_ns;
  std::string name, session;
  bool native = false;      // postmortem: all frames, those of the interpreter and the C library, too
  std::string skip_frames;  // regular expression: wrappers around the user's code; empty: none but packages
  std::vector<std::string> api;
  std::vector<std::string> fail_on;  // check; empty: the usual ones
  std::string weight;                // of stacks: time, calls, bytes, peak or leaks; empty: time
  std::string stack_format;          // flame: collapsed or speedscope
  std::string timeline_format;       // export: perfetto, chrome or kineto
  std::optional<std::int64_t> port;  // serve; none: any that is free
  // push
  bool init = false, follow = false;
  std::string on, host, by;  // reports over a server
  std::string cluster, user, password_file, ca_file, job;
  std::optional<std::int64_t> every_ns;
  bool open = false;            // serve: in a browser
  bool with_libraries = false;  // porting: also the libraries that the program needs
  std::string step;             // export to viewers: the number of a step, or two: "5-8"
  bool errors = false, unfinished = false, peak = false, merge = false, by_line = false, by_module = false,
       by_shape = false, by_thread = false, slow = false, gpu = false, numbers = false;
};

std::vector<cli::Option> option_rows(Settings& to);

// What --format says, else what the ending of --output says.
std::optional<table::Format> wanted_format(const Settings& settings);

// Fails where --output has an ending that stands for no format, and --format does not say which.
Result<void> check_ending(const Settings& settings);

// A filter as SQL sees it. `parameter` without colon; a NULL value where the user said nothing.
struct Parameter {
  std::string_view parameter;
  std::string_view option;
  table::Value value;
};
std::vector<Parameter> parameters(const Settings& settings);
bool has_value(const std::vector<Parameter>& parameters, std::string_view name);
// The refusal of --rank by a report of all processes together; names reports that take it.
tl::unexpected<Error> no_rank(const std::string& report);
// Fails where the user gave a filter that the report does not have.
Result<void> check_filters(const Settings& settings, const Report& report);

// Errors that are the user's: exit status 2.
inline constexpr int kUsageCode = -2;
tl::unexpected<Error> usage(std::string message, std::string cause = {}, std::string fix = {});

}  // namespace fade::query
