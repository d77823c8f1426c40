#include "cli/query/command.hpp"

#include "cli/options/program.hpp"
#include "cli/query/report.hpp"

namespace fade::query {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"summary", "What ran, where its time went, what went wrong (the default)", show_summary, nullptr, 0, 1,
       PageKind::Usual},
      {"verdict", "Was the GPU really used: by which processes, and if not, why", show_verdict, nullptr, 0, 1,
       PageKind::Whole},
      {"first-error", "The first call of each process that failed, and what followed", show_first_error, nullptr, 0, 1,
       PageKind::Whole},
      {"check", "For CI: exit with 1 if a condition of --fail-on is met, with 2 if the recording cannot tell",
       check_recording, nullptr, 0, cli::kUsageStatus, PageKind::Usual},
      {"export",
       "Every call in order of time, one JSON object a line: for other programs (--format jsonl, json, csv or tsv); or "
       "a timeline for trace viewers (--format perfetto, chrome or kineto); or a database for AMD's tools (rocpd)",
       export_calls, nullptr, 0},
      {"page",
       "One HTML file to look at and to pass on: verdict, timeline, tables, flame graph ... (-o; default: NAME.html)",
       write_page, nullptr, 0, 1, PageKind::None, nullptr, false, true},
      {"serve",
       "The page in your browser, live while a recording goes on: also single calls with arguments and stacks, and SQL",
       serve_page, nullptr, 0, 1, PageKind::None, nullptr, true, true},
      {"sql", "Run your own SELECT: sql 'SELECT ...', or sql - for standard input", run_user_sql, nullptr, 1},
      {"shell", "Open the recording in sqlite3, for reading", open_shell, nullptr, 0, 1, PageKind::None, nullptr, true},
      {"diff", "What changed from one recording to another: diff BEFORE AFTER", nullptr, compare_recordings, 2, 1,
       PageKind::None, nullptr, true},
      {"info", "The file: sessions, versions, size, whether it was closed cleanly", show_info, nullptr, 0},
      {"merge", "One recording of several files, for reports over all of them: merge FILE... -o all.db", nullptr,
       merge_recordings, kAnyNumber},
      {"push",
       "Send recordings to ClickHouse, to ask many ranks and machines at once: push URL [FILE...]; first: push URL "
       "--init",
       nullptr, push_recordings, kAnyNumber},
      {"import",
       "Take the GPU's times and the operators from another profiler's file of the same run: import FILE (rocpd, or "
       "PyTorch's *.pt.trace.json)",
       import_trace, nullptr, 1, 1, PageKind::None, nullptr, true},
      {"index", "Add indexes, which make filters on long recordings faster", build_indexes, nullptr, 0, 1,
       PageKind::None, nullptr, true},
      {"list", "Recordings in this directory", nullptr, list_recordings, 1, 1, PageKind::None, nullptr, true},
      {"reports", "All reports and their columns", nullptr, list_reports, 1},
      {"devices", "The page of the report", show_devices, nullptr, 0, 1, PageKind::Usual},
      {"findings", "The page of the report", show_findings, nullptr, 0, 1, PageKind::Usual},
      {"steps", "The page of the report", show_steps, nullptr, 0, 1, PageKind::Sorted},
      {"ranks", "The page of the report", show_ranks, nullptr, 0, 1, PageKind::Limited},
      {"postmortem", "The page of the report", show_postmortem, nullptr, 0, 1, PageKind::Whole},
      {"stacks", "The page of the report", show_stacks, nullptr, 0, 1, PageKind::Usual},
      {"flame", "The page of the report", show_flame, nullptr, 0, 1, PageKind::Limited},
      {"leaks", "The page of the report", show_leaks, nullptr, 0, 1, PageKind::Usual},
      {"oom", "The page of the report", show_oom, nullptr, 0, 1, PageKind::Usual},
      {"sensors", "The page of the report", show_sensors, nullptr, 0, 1, PageKind::Terminal},
      {"gpu", "The page of the report", show_gpu, nullptr, 0, 1, PageKind::Terminal},
      {"numbers", "The page of the report", show_numbers, nullptr, 0, 1, PageKind::Terminal},
      {"memory", "The page of the report", show_memory, nullptr, 0, 1, PageKind::Terminal, &Settings::peak},
      {"processes", "The page of the report", show_processes, nullptr, 0, 1, PageKind::Terminal},
      {"porting",
       "The functions of CUDA that a recording or a program uses, with their replacements in ROCm: porting PROGRAM",
       nullptr, list_porting, 1, 1, PageKind::None, nullptr, true},
      {"probes", "The functions that fade can record", nullptr, list_probes, 0},
  };
  return all;
}

const Command* find_command(std::string_view name) {
  for (const Command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

bool shows_page(const Command& command, const Settings& s) {
  if (command.page == PageKind::None || s.by_line || s.slow || s.sql) return false;
  if (!s.stack_format.empty()) return true;
  const bool is_sorted = command.page == PageKind::Sorted, is_limited = is_sorted || command.page == PageKind::Limited;
  if (!s.columns.empty() || !s.where.empty() || (!s.sort.empty() && !is_sorted) || (s.limit && !is_limited))
    return false;
  return command.page != PageKind::Whole || !(s.pid || s.rank || s.from_ns || s.to_ns || !s.name.empty());
}

bool keeps_page(const Command& command, const Settings& s) {
  return shows_page(command, s) &&
         (command.page != PageKind::Terminal || (command.piped_with && s.*command.piped_with));
}

bool wants_rows(const Command& command, const Context& context) {
  if (command.page == PageKind::None || !context.settings.stack_format.empty()) return false;
  const bool is_page =
      shows_page(command, context.settings) || context.settings.slow;  // samples stand below slow steps
  return context.output.format != table::Format::Table || !is_page;
}

bool is_page(const Command& command) {
  const Report* report = find_report(command.name);
  return report && !report->hidden;
}

}  // namespace fade::query
