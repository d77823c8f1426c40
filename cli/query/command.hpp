// What a word on the command line may be besides the name of a report. One row per command; the table in commands.cpp
// is the only list of them. A command with the name of a report is its page for people: every other format, and options
// that choose among rows and columns, get the report.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/query/engine.hpp"
#include "cli/query/recording.hpp"
#include "cli/query/settings.hpp"

namespace fade::query {

struct Context {
  const Settings& settings;
  std::vector<std::string> words;  // behind the command's name
  std::string path;                // of the recording; empty where none was named and none is needed
  bool named = false;              // by the user, who must name it again for the next report
  Output output;
  int status = 0;            // to end with where nothing went wrong
  bool told_doubts = false;  // the page said what was not recorded, if anything was not
  std::string new_file;      // path of the output, if a library writes it itself (SQLite); empty if not
};

inline constexpr std::size_t kAnyNumber = 100'000;  // of words

using RunOn = Result<void> (*)(Context&, Recording&);
using RunAlone = Result<void> (*)(Context&);

// Which options have a page give way to rows, besides a format and those that choose among rows (--columns, --where,
// --sort).
enum class PageKind {
  None,      // the command prints rows, or text of its own kind
  Usual,     // and --limit
  Limited,   // --limit belongs to the page
  Sorted,    // --limit and --sort belong to the table in the page
  Whole,     // and every filter: the page tells of the whole recording
  Terminal,  // as Usual, and only on a terminal: in a pipe or a file the report
};

struct Command {
  std::string_view name;
  std::string_view help;
  RunOn on_recording;  // exactly one of the two is set
  RunAlone alone;
  std::size_t most_words;  // that it takes
  int failure_status = 1;  // to end with where there is no answer
  PageKind page = PageKind::None;
  bool Settings::*piped_with =
      nullptr;               // with this option the page stays a page in a pipe, though it is of PageKind::Terminal
  bool takes_one = false;    // recording: it is written, or opened again by its name
  bool one_session = false;  // the newest of a merged recording, unless --session says otherwise
};

const std::vector<Command>& commands();
const Command* find_command(std::string_view name);
// True if this command answers `settings` with its page, whatever the output is: text for people, on a terminal or not.
bool shows_page(const Command& command, const Settings& settings);
// True if it is a page in a pipe or a file, too.
bool keeps_page(const Command& command, const Settings& settings);
// True if the rows of its report are wanted instead of its page.
bool wants_rows(const Command& command, const Context& context);
bool is_page(const Command& command);  // of a report that is listed by itself

// The commands themselves, each in its own file.
Result<void> show_summary(Context& context, Recording& recording);
Result<void> show_verdict(Context& context, Recording& recording);
Result<void> show_first_error(Context& context, Recording& recording);
Result<void> check_recording(Context& context, Recording& recording);
Result<void> export_calls(Context& context, Recording& recording);
Result<void> export_timeline(Context& context, Recording& recording);
Result<void> write_page(Context& context, Recording& recording);
Result<void> serve_page(Context& context, Recording& recording);
Result<void> run_user_sql(Context& context, Recording& recording);
Result<void> open_shell(Context& context, Recording& recording);
Result<void> show_info(Context& context, Recording& recording);
Result<void> import_trace(Context& context, Recording& recording);
Result<void> merge_recordings(Context& context);
Result<void> push_recordings(Context& context);
Result<void> ask_fleet(Context& context);  // --on URL
Result<void> build_indexes(Context& context, Recording& recording);
Result<void> list_recordings(Context& context);
Result<void> list_reports(Context& context);
Result<void> list_porting(Context& context);
Result<void> list_probes(Context& context);
Result<void> compare_recordings(Context& context);
Result<void> show_devices(Context& context, Recording& recording);
Result<void> show_stacks(Context& context, Recording& recording);
Result<void> show_flame(Context& context, Recording& recording);
Result<void> show_oom(Context& context, Recording& recording);
Result<void> show_sensors(Context& context, Recording& recording);
Result<void> show_gpu(Context& context, Recording& recording);
Result<void> show_numbers(Context& context, Recording& recording);
Result<void> show_leaks(Context& context, Recording& recording);
Result<void> show_processes(Context& context, Recording& recording);
Result<void> show_memory(Context& context, Recording& recording);
Result<void> show_peak(Context& context, Recording& recording);
Result<void> show_findings(Context& context, Recording& recording);
Result<void> show_ranks(Context& context, Recording& recording);
Result<void> show_steps(Context& context, Recording& recording);
Result<void> show_postmortem(Context& context, Recording& recording);

// Prints rows that do not come from a recording; --columns, --sort and so on work as for a report. `condition`: more
// SQL for filters, "/*? AND name REGEXP :name */".
Result<void> print_rows(Context& context, std::string_view name, std::vector<table::Column> columns,
                        const std::vector<std::vector<table::Value>>& rows, std::string_view condition = {},
                        std::vector<std::string> leave_first = {});

// Why there is nothing to see, in a sentence; empty where calls were recorded.
std::string verdict(Recording& recording);

}  // namespace fade::query
