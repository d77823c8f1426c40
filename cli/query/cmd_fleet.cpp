// fade-query --on URL REPORT: reports that run inside of ClickHouse, over all recordings that fade-query push has sent.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/log.hpp"
#include "base/suggest.hpp"
#include "cli/push/server.hpp"
#include "cli/query/command.hpp"
#include "cli/query/fleet_diff.hpp"
#include "cli/query/fleet_reports.hpp"
#include "cli/query/page.hpp"
#include "cli/query/server_access.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

using Lines = Result<std::vector<std::string>>;

constexpr std::size_t kWordsOfJobs = 3;  // diff JOB JOB

bool is_diff_of_jobs(const std::vector<std::string>& words) { return words.size() > 1 && words[0] == "diff"; }

Result<void> check_diff_of_jobs(const std::vector<std::string>& words, const Settings& settings) {
  constexpr std::string_view kExample = "fade-query --on URL diff JOB-BEFORE JOB-AFTER";
  if (words.size() != kWordsOfJobs)
    return usage("diff compares two jobs, or without a name the machines of a job", {}, std::string(kExample));
  if (words[1] == words[2]) return usage("both jobs are " + table::printable(words[1]), {}, std::string(kExample));
  for (const Parameter& p : parameters(settings))
    if (p.parameter != "name" && !table::is_null(p.value))
      return usage("diff of two jobs has no " + std::string(p.option), {}, std::string(kExample));
  return {};
}

Result<const Report*> wanted_report(const std::vector<std::string>& words) {
  if (words.size() > 1)
    return usage("cannot understand '" + table::printable(words[1]) + "' after " + table::printable(words[0]),
                 "the recordings are those on the server", "fade-query --on URL [REPORT] [--job NAME]");
  const std::string name = words.empty() ? "jobs" : words[0];
  if (const Report* report = find_fleet_report(name)) return report;
  std::vector<std::string> known;
  std::string all;
  for (const Report& report : fleet_reports()) {
    known.push_back(report.name);
    all += " " + report.name;
  }
  return usage(
      fmt::format("there is no report '{}' over a server{}", table::printable(name), did_you_mean(name, known)),
      "there are" + all, "fade-query merge FILES -o all.db      for all other reports");
}

// ClickHouse 18.16 applies conditions inside of views only with a setting. A user with the right to read alone may not
// change settings.
std::string view_settings(push::Server& server) {
  const auto needed = server.select(fleet_statement("view_setting"));
  return needed && !needed->empty() && needed->front() == "1" ? "\nSETTINGS enable_optimize_predicate_expression = 1"
                                                              : "";
}

std::optional<std::int64_t> most_rows(const Settings& settings, const Report& report, bool is_table) {
  if (settings.limit) return *settings.limit == 0 ? std::nullopt : settings.limit;
  return is_table ? report.limit : std::nullopt;
}

// Why there are no rows. An error where the user named a job that is not there.
Result<std::string> why_nothing(push::Server& server, const Settings& settings, const Report& report) {
  auto jobs = server.select(fleet_statement("job_names"));
  if (!jobs) return tl::unexpected(jobs.error());
  if (jobs->empty()) return std::string("no recording was sent to this server: fade-query push URL FILE.db");
  if (!settings.job.empty() && std::ranges::find(*jobs, settings.job) == jobs->end())
    return usage(
        "there is no job '" + table::printable(settings.job) + "' on the server" + did_you_mean(settings.job, *jobs),
        {}, "fade-query --on URL jobs      lists them");
  return report.none;
}

// --where and --name are parts of the statement; what the server says about them should not look like fade's fault.
Error explained(Error error, const Settings& settings) {
  if (settings.where.empty() && settings.name.empty()) return error;
  if (error.fix.empty()) error.fix = "look at --where (SQL of ClickHouse on the report's columns) and --name (RE2)";
  return error;
}

Result<void> print_lines(Context& context, const Report& report, const FleetQuery& query,
                         const std::vector<std::string>& lines, std::optional<std::int64_t> most,
                         const std::string& nothing) {
  const Settings& settings = context.settings;
  const bool is_table = context.output.format == table::Format::Table;
  table::Style style = context.output.style;
  style.leave_first = report.leave_first;
  style.name_hidden = true;
  style.all_columns = !settings.columns.empty();
  style.hide_empty = settings.columns.empty();
  style.why_nothing = [&] { return nothing; };
  const auto sink = make_converter(settings, !is_table, std::nullopt,
                                   table::make_sink(context.output.format, std::move(style), *context.output.bytes));
  if (auto begun = sink->begin(query.columns); !begun) return begun;
  const auto shown = most ? std::min(lines.size(), static_cast<std::size_t>(*most)) : lines.size();
  for (std::size_t i = 0; i < shown; ++i)
    if (auto done = sink->row(fleet_row(lines[i], query.columns)); !done) return done;
  if (auto ended = sink->end(); !ended) return ended;
  if (shown < lines.size() && is_table) tell_below(context, "there are more rows; --limit 0 shows all");
  if (lines.empty() && !is_table) tell_below(context, "nothing: " + nothing);
  return {};
}

// A server with the tables of this fade.
Result<push::Server> connect(const Settings& settings) {
  auto address = push::read_address(settings.on);
  if (!address) return usage(address.error().message, address.error().cause, address.error().fix);
  auto access = read_server_access(settings);
  if (!access) return tl::unexpected(access.error());
  static constexpr std::atomic<bool> kNeverStopped{false};
  auto server = push::Server::make(*address, *access, kNeverStopped);
  if (!server) return server;
  if (auto fine = server->check(); !fine) return tl::unexpected(fine.error());
  return server;
}

Result<void> ask_about_two_jobs(Context& context) {
  const std::vector<std::string>& words = context.words;
  if (auto fine = check_diff_of_jobs(words, context.settings); !fine) return fine;
  if (context.settings.sql) return context.output.bytes->write(diff_of_jobs(words[1], words[2]) + ";\n");
  auto server = connect(context.settings);
  if (!server) return tl::unexpected(server.error());
  return compare_jobs(context, *server, words[1], words[2]);
}

}  // namespace

Result<void> ask_fleet(Context& context) {
  if (is_diff_of_jobs(context.words)) return ask_about_two_jobs(context);
  const Settings& settings = context.settings;
  auto report = wanted_report(context.words);
  if (!report) return tl::unexpected(report.error());
  if (settings.abs_time) return usage("--abs-time needs one recording", {}, "fade-query FILE.db --abs-time");
  const auto most = most_rows(settings, **report, context.output.format == table::Format::Table);
  auto query = fleet_query(**report, settings, most);
  if (!query) return tl::unexpected(query.error());
  if (settings.sql) return context.output.bytes->write(query->sql + ";\n");
  auto server = connect(settings);
  if (!server) return tl::unexpected(server.error());
  Lines lines = server->select(query->sql + view_settings(*server));
  if (!lines) return tl::unexpected(explained(lines.error(), settings));
  auto nothing = lines->empty() ? why_nothing(*server, settings, **report) : Result<std::string>();
  if (!nothing) return tl::unexpected(nothing.error());
  return print_lines(context, **report, *query, *lines, most, *nothing);
}

}  // namespace fade::query
