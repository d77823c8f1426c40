#include "cli/query/engine.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/suggest.hpp"
#include "cli/query/column_names.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/nothing.hpp"
#include "cli/query/ranks.hpp"

namespace fade::query {
namespace {

using namespace std::chrono_literals;
using table::Column;
using table::Value;

constexpr std::int64_t kPage = 20000;  // rows in one read transaction, so that a live recording's log can be reset
constexpr auto kCountTime = 300ms;
constexpr auto kSqlTime = 30s;

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) (out += c) += c == '"' ? "\"" : "";
  return out + '"';
}

Result<void> check_column(const Report& report, std::string_view name, std::string_view option) {
  if (column_named(report, name)) return {};
  const std::vector<std::string> known = report.column_names();
  const std::vector<std::string> candidates = names_and_headings(report);
  const std::string near = nearest(name, candidates);
  std::string all;
  for (const std::string& c : known) (all += all.empty() ? "" : ", ") += c;
  return usage("report " + report.name + " has no column '" + std::string(name) + "'" + did_you_mean(name, candidates),
               "it has " + all,
               near.empty() ? "" : "fade-query " + report.name + " " + std::string(option) + " " + near);
}

// What a report becomes under the user's wishes.
struct Plan {
  const Report* report = nullptr;
  std::vector<Column> columns;
  std::string select;  // up to and without ORDER BY
  std::string count;
  std::string order;
  bool paged = false;
};

// `sort`: a column or its heading, with "-" before it where the largest comes first. It was checked before.
std::string order_by(const Report& report, std::string_view sort) {
  if (sort.empty()) return {};
  const bool down = sort.starts_with('-');
  return "\nORDER BY " + quoted_name(column_named(report, sort.substr(down ? 1 : 0))->name) + (down ? " DESC" : "");
}

// What nobody asked for and the recording has nothing of: a table without ranks needs no column for them.
std::vector<std::string> usual_columns(Database& db, const Report& report, bool table) {
  std::vector<std::string> names = report.column_names();
  if (table && report.column("rank") && report.name != "ranks" && !has_ranks(db)) std::erase(names, "rank");
  return names;
}

Result<std::vector<Column>> chosen_columns(Database& db, const Report& report, const Settings& settings, bool table) {
  std::vector<Column> out;
  const std::vector<std::string> names = settings.columns.empty() ? usual_columns(db, report, table) : settings.columns;
  for (const std::string& name : names) {
    if (auto fine = check_column(report, name, "--columns"); !fine) return tl::unexpected(fine.error());
    const ReportColumn* column = column_named(report, name);
    out.push_back({column->name, column->kind});
  }
  // A tree is drawn by its depth, whether asked for or not.
  const bool draws =
      table && settings.sort.empty() && std::find(names.begin(), names.end(), report.tree) != names.end();
  if (draws && std::find(names.begin(), names.end(), "depth") == names.end())
    out.push_back({"depth", table::Kind::Count});
  return out;
}

std::string sql_text(const Report& report, const Settings& settings, const Value& session, std::string_view word) {
  const auto all = parameters(settings);
  return report.sql_for([&](std::string_view name) {
    if (name == "session") return !table::is_null(session);
    if (name == "word") return !word.empty();
    return has_value(all, name);
  });
}

Result<Plan> make_plan(Database& db, const Report& report, const Settings& settings, const Value& session,
                       std::string_view word, bool table) {
  if (auto fine = check_filters(settings, report); !fine) return tl::unexpected(fine.error());
  const std::string_view sort = settings.sort.empty() ? std::string_view(report.sort) : std::string_view(settings.sort);
  if (!sort.empty())
    if (auto fine = check_column(report, sort.substr(sort.starts_with('-') ? 1 : 0), "--sort"); !fine)
      return tl::unexpected(fine.error());
  auto columns = chosen_columns(db, report, settings, table);
  if (!columns) return tl::unexpected(columns.error());
  Plan plan;
  plan.report = &report;
  plan.columns = std::move(*columns);
  plan.paged = !report.page_by.empty() && settings.sort.empty();
  const std::string with = "WITH report AS (\n" + sql_text(report, settings, session, word) + "\n)\nSELECT ";
  std::string from = "\nFROM report";
  if (!settings.where.empty()) from += "\nWHERE (" + where_in_columns(report, settings.where) + "\n)";
  std::string list;
  for (const Column& c : plan.columns) (list += list.empty() ? "" : ", ") += quoted_name(c.name);
  if (plan.paged && !settings.columns.empty()) list += ", " + quoted_name(report.page_by);
  plan.select = with + list + from;
  plan.count = with + "count(*)" + from;
  plan.order = order_by(report, plan.paged ? std::string_view(report.page_by) : sort);
  return plan;
}

// --where runs as part of our SQL; what SQLite says about it should not look like our fault.
Error explain(Error e, const Settings& settings, const Report& report) {
  if (settings.where.empty() || e.message != "cannot run this SQL") return e;
  return {"cannot use --where '" + settings.where + "'", std::move(e.cause),
          "fade-query reports " + report.name + "      shows its columns", kUsageCode};
}

// Checked by itself, so that what is wrong with it is not told as a fault of the report.
Result<void> check_pattern(Database& db, const std::string& pattern) {
  auto statement = db.prepare("SELECT '' REGEXP :pattern");
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":pattern", pattern);
  if (auto tried = statement->step(); !tried)
    return usage("cannot use --name '" + pattern + "'", tried.error().cause, "write \\( for a parenthesis");
  return {};
}

struct Reader {
  Recording& recording;
  const Report& report;
  const Settings& settings;
  std::string word;
  Value session;

  Result<Statement> prepare(const std::string& sql) const {
    auto statement = recording.database.prepare(sql);
    if (!statement) return tl::unexpected(explain(statement.error(), settings, report));
    for (const Parameter& p : parameters(settings)) statement->bind((":" + std::string(p.parameter)).c_str(), p.value);
    statement->bind(":session", session);
    statement->bind(":word", word.empty() ? Value{} : Value{word});
    return statement;
  }
};

Database::Telling telling(const Settings& settings) {
  if (!settings.tell_waiting) return Database::Telling::No;
  return settings.rows_elsewhere ? Database::Telling::ThroughRows : Database::Telling::UntilRows;
}

// Passes at most `most` rows on (no limit: nullopt). Stops reading as soon as it knows that there is one more.
Result<Outcome> pass_on(Statement& statement, std::size_t width, std::optional<std::int64_t> most,
                        table::RowSink& sink) {
  Outcome outcome;
  std::vector<Value> cells(width);
  for (;;) {
    auto row = statement.step();
    if (!row) return tl::unexpected(row.error());
    outcome.more = *row && most && outcome.rows >= *most;
    if (!*row || outcome.more) {
      outcome.steps = statement.steps();
      return outcome;
    }
    for (std::size_t i = 0; i < width; ++i) cells[i] = statement.value(static_cast<int>(i));
    if (auto done = sink.row(cells); !done) return tl::unexpected(done.error());
    ++outcome.rows;
  }
}

Result<Outcome> read_at_once(const Reader& reader, const Plan& plan, std::optional<std::int64_t> most,
                             table::RowSink& sink) {
  // One row more than wanted tells whether any is left out, and lets SQLite sort only as many as needed.
  auto statement = reader.prepare(plan.select + plan.order + (most ? "\nLIMIT " + std::to_string(*most + 1) : ""));
  if (!statement) return tl::unexpected(statement.error());
  return pass_on(*statement, plan.columns.size(), most, sink);
}

// Page by page along an ascending id, each page a short transaction of its own.
Result<Outcome> read_in_pages(const Reader& reader, const Plan& plan, std::optional<std::int64_t> most,
                              table::RowSink& sink) {
  const std::string by = quoted_name(plan.report->page_by);
  const std::string glue = reader.settings.where.empty() ? "\nWHERE " : "\nAND ";
  auto statement = reader.prepare("SELECT * FROM (" + plan.select + glue + by + " > :after) ORDER BY " + by +
                                  " LIMIT " + std::to_string(kPage));
  if (!statement) return tl::unexpected(statement.error());
  const auto id_column = std::find_if(plan.columns.begin(), plan.columns.end(),
                                      [&](const Column& c) { return c.name == plan.report->page_by; });
  Outcome all;
  Value after{std::int64_t{-1}};
  for (;;) {
    statement->reset();
    statement->bind(":after", after);
    std::vector<Value> cells(plan.columns.size());
    std::int64_t rows = 0;
    for (;; ++rows) {
      auto row = statement->step();
      if (!row) return tl::unexpected(row.error());
      all.more = *row && most && all.rows >= *most;
      if (!*row || all.more) break;
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = statement->value(static_cast<int>(i));
      after = id_column != plan.columns.end() ? cells[static_cast<std::size_t>(id_column - plan.columns.begin())]
                                              : statement->value(statement->columns() - 1);
      if (auto done = sink.row(cells); !done) return tl::unexpected(done.error());
      ++all.rows;
    }
    if (rows < kPage || all.more) {
      all.steps = statement->steps();
      return all;
    }
  }
}

// Counting may take longer than the report: only as long as nobody notices.
std::optional<std::int64_t> count_rows(const Reader& reader, const Plan& plan) {
  reader.recording.database.limit_time(kCountTime);
  auto statement = reader.prepare(plan.count);
  const bool counted = statement && statement->step().value_or(false);
  const Value n = counted ? statement->value(0) : Value{};
  reader.recording.database.limit_time(std::nullopt);
  return counted && std::holds_alternative<std::int64_t>(n) ? std::optional(std::get<std::int64_t>(n)) : std::nullopt;
}

std::optional<std::int64_t> limit_of(const Settings& settings, const std::optional<std::int64_t>& standard,
                                     bool table) {
  if (settings.limit) return *settings.limit == 0 ? std::nullopt : settings.limit;
  return table ? standard : std::nullopt;
}

Result<std::optional<std::int64_t>> epoch(Recording& recording, const Settings& settings, const Value& session) {
  if (!settings.abs_time) return std::nullopt;
  const auto* id = std::get_if<std::int64_t>(&session);
  if (!id && recording.sessions.size() > 1)
    return usage("--abs-time needs one session", "this recording has several, which began at different times",
                 "choose one with --session N");
  auto start =
      recording.database.one("SELECT start_ns FROM sessions" + (id ? " WHERE id = " + std::to_string(*id) : ""));
  if (!start) return tl::unexpected(start.error());
  const auto* ns = std::get_if<std::int64_t>(&*start);
  return ns ? std::optional(*ns) : std::nullopt;
}

table::Style style_for(const Output& output, const Report& report, const Settings& settings) {
  table::Style style = output.style;
  style.leave_first = report.leave_first;
  style.name_hidden = style.indent.empty() && !settings.may_leave_out;
  style.all_columns = !settings.columns.empty() && !settings.may_leave_out;
  style.hide_empty = settings.may_leave_out || settings.by_line;
  if (settings.sort.empty()) style.tree = report.tree;
  return style;
}

// Whether the report has a row under these settings. False if that takes too long to find out.
bool has_rows(Recording& recording, const Report& report, const Settings& settings, const Value& session,
              const std::string& word) {
  const auto plan = make_plan(recording.database, report, settings, session, word, true);
  if (!plan) return false;
  recording.database.limit_time(kCountTime);
  auto statement = Reader{recording, report, settings, word, session}.prepare(plan->select + "\nLIMIT 1");
  const bool found = statement && statement->step().value_or(false);
  recording.database.limit_time(std::nullopt);
  return found;
}

// The first that the user's options choose: "peak" where --peak was given, "weight=leaks" where --weight has that
// value.
const Variant* variant_for(const Report& report, const Settings& settings) {
  for (const Variant& v : report.variants) {
    const std::size_t equals = v.parameter.find('=');
    for (const Parameter& p : parameters(settings)) {
      if (p.parameter != std::string_view(v.parameter).substr(0, equals) || table::is_null(p.value)) continue;
      if (equals == std::string::npos || table::raw_text(p.value) == v.parameter.substr(equals + 1)) return &v;
    }
  }
  return nullptr;
}

}  // namespace

Result<Value> chosen_session(const Settings& settings, const Recording& recording) {
  if (settings.session == "all" || recording.sessions.empty()) return Value{};
  // The only session needs no condition, which saves two look-ups for each call.
  if (settings.session.empty())
    return recording.sessions.size() == 1 || recording.is_merged ? Value{} : Value{recording.sessions.back()};
  std::int64_t n = 0;
  const char* end = settings.session.data() + settings.session.size();
  if (std::from_chars(settings.session.data(), end, n).ptr != end)
    return usage("--session takes a number or all, not '" + settings.session + "'");
  if (std::find(recording.sessions.begin(), recording.sessions.end(), n) == recording.sessions.end())
    return usage("there is no session " + settings.session,
                 recording.path + " has sessions up to " + std::to_string(recording.sessions.back()),
                 "fade-query " + recording.path + " info");
  return Value{n};
}

const Report& chosen_variant(const Report& report, const Settings& settings) {
  const Variant* variant = variant_for(report, settings);
  const Report* other = variant ? find_report(variant->report) : nullptr;
  return other ? *other : report;
}

Result<Outcome> run_report(Recording& recording, const Report& wanted, const Settings& given, const std::string& word,
                           const Output& output) {
  const Report& report = chosen_variant(wanted, given);
  Settings settings = given;
  if (const Variant* variant = variant_for(wanted, given))  // the option has done its work
    for (const auto& [name, flag] : {std::pair{"peak", &settings.peak},
                                     {"errors", &settings.errors},
                                     {"by_line", &settings.by_line},
                                     {"by_module", &settings.by_module},
                                     {"by_shape", &settings.by_shape},
                                     {"by_thread", &settings.by_thread},
                                     {"slow", &settings.slow},
                                     {"gpu", &settings.gpu},
                                     {"merge", &settings.merge}})
      if (variant->parameter == name) *flag = false;
  const bool is_table = output.format == table::Format::Table;
  auto session = chosen_session(settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto plan = make_plan(recording.database, report, settings, *session, word, is_table);
  if (!plan) return tl::unexpected(plan.error());
  auto start = epoch(recording, settings, *session);
  if (!start) return tl::unexpected(start.error());
  if (auto fine = check_pattern(recording.database, settings.name); !fine) return tl::unexpected(fine.error());

  const Reader reader{recording, report, settings, word, *session};
  // Before the first row is printed: SQL that cannot run must not leave half an output behind.
  if (auto tried = reader.prepare(plan->select + plan->order); !tried) return tl::unexpected(tried.error());
  recording.database.tell_waiting(telling(settings));
  if (settings.timeout_ns) recording.database.limit_time(std::chrono::nanoseconds(*settings.timeout_ns));
  table::Style style = style_for(output, report, settings);
  const Nothing nothing(recording, report, settings, *session,
                        [&](const Settings& other) { return has_rows(recording, report, other, *session, word); });
  style.why_nothing = [&] { return nothing.reason(); };
  const auto sink =
      make_converter(settings, !is_table, *start, table::make_sink(output.format, std::move(style), *output.bytes));
  if (auto begun = sink->begin(plan->columns); !begun) return tl::unexpected(begun.error());
  const auto most = limit_of(settings, report.limit, is_table);
  auto outcome = plan->paged ? read_in_pages(reader, *plan, most, *sink) : read_at_once(reader, *plan, most, *sink);
  if (!outcome) return tl::unexpected(explain(outcome.error(), settings, report));
  recording.database.tell_waiting(Database::Telling::No);
  if (auto ended = sink->end(); !ended) return tl::unexpected(ended.error());
  recording.database.limit_time(std::nullopt);
  if (is_table && outcome->rows > 0) outcome->remark = remark(recording, *session, report.topic, report.needs_rows);
  if (!is_table && outcome->rows == 0) outcome->why_nothing = nothing.reason();
  if (outcome->more)
    if (const auto all = count_rows(reader, *plan)) outcome->left_out = *all - outcome->rows;
  return outcome;
}

Result<std::string> sql_of_report(Recording& recording, const Report& wanted, const Settings& given,
                                  const std::string& word) {
  const Report& report = chosen_variant(wanted, given);
  Settings settings = given;
  if (&report != &wanted)
    settings.peak = settings.errors = settings.by_line = settings.by_module = settings.by_shape = settings.by_thread =
        settings.slow = settings.merge = settings.gpu = false;
  auto session = chosen_session(settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto plan = make_plan(recording.database, report, settings, *session, word, false);
  if (!plan) return tl::unexpected(plan.error());
  const Reader reader{recording, report, settings, word, *session};
  const auto most = limit_of(settings, report.limit, false);
  auto statement = reader.prepare(plan->select + plan->order + (most ? "\nLIMIT " + std::to_string(*most) : ""));
  if (!statement) return tl::unexpected(statement.error());
  return statement->expanded_sql();
}

Result<Outcome> run_sql(Recording& recording, const std::string& sql, const Settings& settings, const Output& output) {
  const bool is_table = output.format == table::Format::Table;
  const auto sink =
      make_converter(settings, !is_table, std::nullopt, table::make_sink(output.format, output.style, *output.bytes));
  return run_sql(recording, sql, settings, limit_of(settings, std::nullopt, is_table), *sink);
}

Result<Outcome> run_sql(Recording& recording, const std::string& sql, const Settings& settings,
                        std::optional<std::int64_t> most, table::RowSink& sink) {
  const MemoryLimit limit = recording.database.limit_memory();
  recording.database.tell_waiting(telling(settings));
  recording.database.limit_time(settings.timeout_ns ? std::chrono::nanoseconds(*settings.timeout_ns)
                                                    : std::chrono::nanoseconds(kSqlTime));
  auto statement = recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  std::vector<Column> columns;
  for (int i = 0; i < statement->columns(); ++i) {
    const std::string name = statement->column_name(i);
    columns.push_back({name, table::kind_from_name(name)});
  }
  if (auto begun = sink.begin(columns); !begun) return tl::unexpected(begun.error());
  auto outcome = pass_on(*statement, columns.size(), most, sink);
  if (!outcome) return outcome;
  recording.database.tell_waiting(Database::Telling::No);
  if (auto ended = sink.end(); !ended) return tl::unexpected(ended.error());
  return outcome;
}

}  // namespace fade::query
