#include "cli/query/settings.hpp"

#include <algorithm>
#include <array>

#include "base/glob.hpp"
#include "cli/query/timeline_formats.hpp"

namespace fade::query {
namespace {

table::Value value_of(const std::optional<std::int64_t>& n) { return n ? table::Value(*n) : table::Value(); }
table::Value value_of(const std::string& text) { return text.empty() ? table::Value() : table::Value(text); }
table::Value value_of(bool on) { return on ? table::Value(std::int64_t{1}) : table::Value(); }

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& w : words) (out += out.empty() ? "" : between) += w;
  return out;
}

constexpr std::string_view kReportsByRank =
    "fade-query processes --rank N; others by rank: top, calls, launches, errors, leaks, memory, steps, ranks";
constexpr std::array<std::string_view, 2> kStackFormats{"collapsed", "speedscope"};

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> out{table::format_words().begin(), table::format_words().end()};
  out.insert(out.end(), kStackFormats.begin(), kStackFormats.end());
  for (const TimelineFormat& format : timeline_formats()) out.push_back(format.word);
  return out;
}

// The last one given counts.
cli::Choice format_choice(Settings& to) {
  return {format_names(), [&to](std::size_t i) {
            const std::string_view word = format_names()[i];
            to.format = table::format_from_word(word);
            const bool is_timeline = find_timeline_format(word) != nullptr;
            to.timeline_format = is_timeline ? word : std::string_view{};
            to.stack_format = to.format || is_timeline ? std::string_view{} : word;
          }};
}

cli::Choice weight_choice(std::string& to) {
  static constexpr std::array<std::string_view, 5> kWeights{"time", "calls", "bytes", "peak", "leaks"};
  return {{kWeights.begin(), kWeights.end()}, [&to](std::size_t i) { to = kWeights[i]; }};
}

cli::Choice by_choice(std::string& to) {
  static constexpr std::array<std::string_view, 4> kWhat{"job", "host", "rank", "device"};
  return {{kWhat.begin(), kWhat.end()}, [&to](std::size_t i) { to = kWhat[i]; }};
}

struct Ending {
  std::string_view ending;
  table::Format format;
};
constexpr std::array<Ending, 6> kEndings{{{".tsv", table::Format::Tsv},
                                          {".csv", table::Format::Csv},
                                          {".json", table::Format::Json},
                                          {".jsonl", table::Format::Jsonl},
                                          {".md", table::Format::Markdown},
                                          {".txt", table::Format::Table}}};

}  // namespace

std::optional<table::Format> wanted_format(const Settings& settings) {
  if (settings.format) return settings.format;
  for (const Ending& e : kEndings)
    if (settings.output.ends_with(e.ending)) return e.format;
  return std::nullopt;
}

Result<void> check_ending(const Settings& settings) {
  const std::string_view name = base_name(settings.output);
  const std::size_t dot = name.rfind('.');
  if (settings.format || !settings.stack_format.empty() || !settings.timeline_format.empty() ||
      dot == std::string_view::npos || dot == 0)
    return {};
  const std::string_view ending = name.substr(dot);
  if (settings.output.starts_with("/dev/") || std::ranges::find(kEndings, ending, &Ending::ending) != kEndings.end())
    return {};
  return usage("unknown ending '" + std::string(ending) + "' of " + settings.output,
               "the ending chooses the format: .tsv, .csv, .json, .jsonl, .md (Markdown) or .txt (text)",
               "choose one, or name the format: --format csv");
}

std::vector<cli::Option> option_rows(Settings& to) {
  using namespace cli;
  const std::string_view out = "Output", rows = "Rows", filters = "Filters", push = "Push", fleet = "Fleet";
  return {
      {out, "-f,--format", "FORMAT",
       "table, tsv, csv, json, jsonl, markdown or line [tables: table on a terminal, else tsv]; flame: also collapsed, "
       "speedscope; export: jsonl, json, csv, tsv, perfetto, chrome, kineto, rocpd",
       format_choice(to), Shown::Help},
      {out, "--columns", "A,B", "only these columns, in this order", List{&to.columns}, Shown::Help},
      {out, "--no-header", "", "no line with the names of the columns", Flag{&to.no_header}},
      {out, "--no-pager", "", "write long pages to the terminal at once instead of through less (FADE_PAGER, PAGER)",
       Flag{&to.no_pager}},
      {out, "--units", "UNIT", "of times: auto, ns, us, ms or s [auto; machine formats: ns]",
       choice(to.units, {"auto", "ns", "us", "ms", "s"})},
      {out, "--abs-time", "", "points in time as date and time (UTC) instead of since the start", Flag{&to.abs_time}},
      {out, "-o,--output", "FILE", "write to a new FILE; its ending chooses the format; -: standard output",
       Text{&to.output}, Shown::HelpAll, Completes::File},
      {out, "--force", "", "overwrite FILE", Flag{&to.force}},
      {out, "-w,--watch", "[=SEC]", "again every SEC seconds [2], for recordings that go on",
       MaybeText{&to.watch, "2"}},
      {out, "--sql", "", "print the SQL instead of running it", Flag{&to.sql}},
      {out, "--port", "N", "serve: the port on 127.0.0.1 [any that is free]", Number{&to.port, 1, 65535}},
      {out, "--open", "", "serve: open the page in the browser", Flag{&to.open}},
      {out, "--with-libraries", "", "porting: also the imports of the libraries that the program needs",
       Flag{&to.with_libraries}},
      {push, "--init", "", "make fade's tables on the server, or those that a newer fade adds", Flag{&to.init}},
      {push, "--cluster", "NAME", "--init: tables over all shards of this cluster (<remote_servers>)",
       Text{&to.cluster}},
      {push, "--user", "NAME", "on the server [CLICKHOUSE_USER]", Text{&to.user}},
      {push, "--password-file", "FILE", "its first line is the password [CLICKHOUSE_PASSWORD]", Text{&to.password_file},
       Shown::HelpAll, Completes::File},
      {push, "--ca", "FILE", "authorities that may sign the server's certificate, PEM [those of the system]",
       Text{&to.ca_file}, Shown::HelpAll, Completes::File},
      {push, "--job", "NAME", "the job of these recordings; --on: only this job [FADE_JOB, SLURM_JOB_ID ...]",
       Text{&to.job}},
      {push, "--follow", "", "send along with a recording that goes on, to its end", Flag{&to.follow}},
      {push, "--every", "TIME", "--follow: time between two looks [30s]", Time{&to.every_ns}},
      {fleet, "--on", "URL", "ask a ClickHouse server: jobs, stragglers, errors", Text{&to.on}, Shown::Help},
      {fleet, "--host", "NAME", "--on: only this machine", Text{&to.host}},
      {fleet, "--by", "WHAT", "--on: top, kernels: a row for each job, host, rank or device", by_choice(to.by)},
      {rows, "--sort", "COLUMN", "ascending; -COLUMN: descending", Text{&to.sort}, Shown::Help},
      {rows, "-n,--limit", "N", "at most N rows; 0: all [by the report, usually 20]", Number{&to.limit, 0},
       Shown::Help},
      {rows, "--where", "EXPR", "only rows for which this SQL expression on the report's columns is true",
       Text{&to.where}, Shown::Help},
      {rows, "--timeout", "TIME",
       "how long the query may take [sql: 30s, reports: any time]; push: how long the server may be away [1m]",
       Time{&to.timeout_ns}},
      {filters, "--name", "REGEX", "functions, kernels, files ... whose name matches", Text{&to.name}, Shown::Help},
      {filters, "--pid", "PID", "only this process", Number{&to.pid, 0}, Shown::Help},
      {filters, "--rank", "N", "only this rank of a distributed job (RANK ...)", Number{&to.rank, 0}, Shown::Help},
      {filters, "--tid", "TID", "only this thread", Number{&to.tid, 0}},
      {filters, "--device", "N", "only this device, as the program numbers it", Number{&to.device}},
      {filters, "--api", "LIST", "of these APIs: hip,hiprtc,user", List{&to.api}},
      {filters, "--from", "TIME", "not before TIME since the start of the recording: 500ms, 30s, 5m",
       Time{&to.from_ns}},
      {filters, "--to", "TIME", "before TIME since the start of the recording", Time{&to.to_ns}},
      {filters, "--step", "N[-M]", "export to viewers: only the time of step N, or of steps N to M", Text{&to.step}},
      {filters, "--session", "N", "of an appended recording: number or all [the newest]", Text{&to.session}},
      {filters, "--stack", "ID", "stacks, flame, calls: only those with this stack", Number{&to.stack, 1}},
      {filters, "--weight", "WHAT",
       "stacks, flame: time, calls or bytes (allocated); flame: also peak, leaks (memory held) [time]",
       weight_choice(to.weight)},
      {filters, "--errors", "", "calls, launches: only those that failed; cuda: those one by one", Flag{&to.errors}},
      {filters, "--slower-than", "TIME", "calls, launches: only those that took at least TIME: 1ms",
       Time{&to.slower_than_ns}},
      {filters, "--unfinished", "", "calls: only those that never returned", Flag{&to.unfinished}},
      {filters,
       "--fail-on",
       "LIST",
       "check: conditions to fail on [not-used,errors,dropped,unclean]",
       List{&to.fail_on},
       Shown::HelpAll,
       Completes::Nothing,
       {"not-used", "errors", "dropped", "unclean", "overwritten", "leaks", "unwatched", "findings", "exit"}},
      {filters, "--peak", "", "memory: what was in use at the peak", Flag{&to.peak}},
      {filters, "--slow", "", "steps: what differed in slow ones, by category", Flag{&to.slow}},
      {filters, "--by-line", "",
       "waits, leaks, memory --peak, operators: by your own line, of calls whose stack was recorded",
       Flag{&to.by_line}},
      {filters, "--by-module", "", "operators: by nn.Module, of calls whose stack was recorded", Flag{&to.by_module}},
      {filters, "--by-shape", "", "operators: by the types and sizes of their arguments (fade-run --operator-shapes)",
       Flag{&to.by_shape}},
      {filters, "--by-thread", "", "operators: by kind of thread: main, backward, DataLoader worker ...",
       Flag{&to.by_thread}},
      {filters, "--gpu", "", "top: kernels, copies and fills by their time on the GPU (fade-run --gpu-times)",
       Flag{&to.gpu}},
      {filters, "--numbers", "",
       "diff: the first step and copy in which two runs have other bytes (fade-run --watch-numbers checksum)",
       Flag{&to.numbers}},
      {filters, "--merge", "", "flame, steps, memory: the ranks of a distributed job added up", Flag{&to.merge}},
      {filters, "--native", "", "postmortem: also the frames of the interpreter and the C library", Flag{&to.native}},
      {filters, "--skip-frames", "REGEX",
       "frames whose file or function matches are wrappers, as packages are: your own line is further out",
       Text{&to.skip_frames}},
  };
}

std::vector<Parameter> parameters(const Settings& s) {
  return {
      {"name", "--name", value_of(s.name)},
      {"pid", "--pid", value_of(s.pid)},
      {"rank", "--rank", value_of(s.rank)},
      {"tid", "--tid", value_of(s.tid)},
      {"stack", "--stack", value_of(s.stack)},
      {"weight", "--weight", value_of(s.weight)},
      {"device", "--device", value_of(s.device)},
      {"api", "--api", value_of(joined(s.api, ","))},
      {"from", "--from", value_of(s.from_ns)},
      {"to", "--to", value_of(s.to_ns)},
      {"errors", "--errors", value_of(s.errors)},
      {"slower_than", "--slower-than", value_of(s.slower_than_ns)},
      {"unfinished", "--unfinished", value_of(s.unfinished)},
      {"peak", "--peak", value_of(s.peak)},
      {"merge", "--merge", value_of(s.merge)},
      {"slow", "--slow", value_of(s.slow)},
      {"gpu", "--gpu", value_of(s.gpu)},
      {"by_line", "--by-line", value_of(s.by_line)},
      {"by_module", "--by-module", value_of(s.by_module)},
      {"by_shape", "--by-shape", value_of(s.by_shape)},
      {"by_thread", "--by-thread", value_of(s.by_thread)},
      {"step", "--step", value_of(s.step)},
      {"job", "--job", value_of(s.job)},
      {"host", "--host", value_of(s.host)},
      {"by", "--by", value_of(s.by)},
      {"fail_on", "--fail-on", value_of(joined(s.fail_on, ","))},
  };
}

bool has_value(const std::vector<Parameter>& parameters, std::string_view name) {
  return std::ranges::any_of(parameters,
                             [&](const Parameter& p) { return p.parameter == name && !table::is_null(p.value); });
}

tl::unexpected<Error> no_rank(const std::string& report) {
  return usage("report " + report + " has no --rank", "it is of all processes together",
               "fade-query processes --rank N; also top, calls, launches, errors, leaks, memory, steps");
}

namespace {

// That ask for it: some are another form of a report, by an option.
std::string words_of(const Report& report) {
  struct Form {
    std::string_view name, words;
  };
  static constexpr Form kForms[] = {{"memory_peak", "memory --peak"},
                                    {"memory_merged", "memory --merge"},
                                    {"wait_lines", "waits --by-line"},
                                    {"operator_lines", "operators --by-line"},
                                    {"operator_modules", "operators --by-module"},
                                    {"operator_shapes", "operators --by-shape"},
                                    {"operator_threads", "operators --by-thread"},
                                    {"cuda_errors", "cuda --errors"},
                                    {"top_gpu", "top --gpu"},
                                    {"step_diff", "steps --slow"},
                                    {"steps_merged", "steps --merge"},
                                    {"flame_memory", "flame --weight peak"}};
  const auto* const found = std::ranges::find(kForms, std::string_view(report.name), &Form::name);
  return found == std::end(kForms) ? report.name : std::string(found->words);
}

}  // namespace

Result<void> check_filters(const Settings& settings, const Report& report) {
  std::vector<std::string> known;
  for (const Parameter& p : parameters(settings))
    if (report.knows(p.parameter)) known.emplace_back(p.option);
  for (const Parameter& p : parameters(settings)) {
    if (table::is_null(p.value) || report.knows(p.parameter)) continue;
    if (p.parameter == "rank") return no_rank(report.name);
    const std::string words = words_of(report);
    return usage(
        "report " + words + " has no " + std::string(p.option),
        known.empty() ? "it has no filters" : "it has " + joined(known, ", "),
        "filter any of its columns:  fade-query " + words + " --where '" + report.columns.front().name + " = ...'");
  }
  return {};
}

tl::unexpected<Error> usage(std::string message, std::string cause, std::string fix) {
  return fail(std::move(message), std::move(cause), std::move(fix), kUsageCode);
}

}  // namespace fade::query
