// check: conditions that a recording must not meet, for CI. What they are is the view checks.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr int kConditionMet = 1, kCannotBeTold = 2;
constexpr std::string_view kFindings = "findings";  // the condition

struct Condition {
  std::string name;
  std::int64_t n = 0;  // how often it is met, in all chosen sessions
  std::string detail;
  bool usual = false;
  std::string title;    // of the condition if it is met; empty: its name
  std::string unknown;  // why it cannot be told; a condition that is met in one session is met
  bool is_met() const { return n > 0; }
  bool is_unknown() const { return n == 0 && !unknown.empty(); }
};

using Conditions = std::vector<Condition>;

// A recording of an older fade has no column unknown, which is NULL then.
void add_row(Conditions& all, const NamedRow& row) {
  const std::string name = row.raw("condition");
  const std::int64_t n = row.number("n");
  auto known = std::ranges::find(all, name, &Condition::name);
  if (known == all.end()) known = all.insert(all.end(), {name, 0, {}, row.is("usual"), {}, {}});
  if (known->unknown.empty()) known->unknown = row.raw("unknown");
  if (n > 0 && known->detail.empty()) {
    known->title = row.has("title") ? row.raw("title") : "";
    known->detail = row.raw("told");
  }
  known->n += n;
}

Result<void> add_rows(Conditions& all, Recording& recording, std::string_view page, const table::Value& session) {
  auto rows = named_rows(recording, schema::page_sql(page), session);
  if (!rows) return tl::unexpected(rows.error());
  for (const NamedRow& row : *rows) add_row(all, row);
  return {};
}

// All findings take longer than the rest, so they are computed only if they are wanted.
Result<Conditions> read_conditions(Recording& recording, const table::Value& session,
                                   const std::vector<std::string>& wanted) {
  Conditions out;
  if (auto done = add_rows(out, recording, "check", session); !done) return tl::unexpected(done.error());
  if (std::ranges::find(wanted, kFindings) == wanted.end()) {
    out.push_back({.name = std::string(kFindings)});
    return out;
  }
  if (auto done = add_rows(out, recording, "check_findings", session); !done) return tl::unexpected(done.error());
  return out;
}

// A recording that goes on is not closed, and that is no fault.
void take_as_running(Conditions& all, const std::string& state) {
  for (Condition& c : all)
    if (c.name == "unclean" && c.is_met()) c.n = 0, c.unknown = state;
}

std::vector<std::string> names_of(const Conditions& all) {
  std::vector<std::string> out;
  for (const Condition& c : all) out.push_back(c.name);
  return out;
}

Result<Conditions> chosen(const Conditions& all, const std::vector<std::string>& wanted) {
  Conditions out;
  if (wanted.empty()) std::ranges::copy_if(all, std::back_inserter(out), &Condition::usual);
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(all, name, &Condition::name);
    if (found == all.end()) {
      const std::string near = nearest(name, names_of(all));
      return usage("there is no condition '" + table::printable(name) + "'",
                   fmt::format("there are {}", fmt::join(names_of(all), ", ")),
                   near.empty() ? "" : "fade-query check --fail-on " + near);
    }
    out.push_back(*found);
  }
  return out;
}

Conditions those(const Conditions& all, bool (Condition::*is)() const) {
  Conditions out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const Condition& c) { return (c.*is)(); });
  return out;
}

// A row for each condition that is met, and for each that cannot be told, with n NULL.
Result<void> print_all(Context& context, const Conditions& met, const Conditions& unknown) {
  using table::Kind;
  std::vector<Row> rows;
  for (const Condition& c : met) rows.push_back({c.name, c.n, c.detail});
  for (const Condition& c : unknown) rows.push_back({c.name, std::monostate{}, c.unknown});
  Settings settings;
  Context plain{settings, {}, context.path, context.named, context.output};
  return print_rows(plain, "check", {{"condition", Kind::Text}, {"n", Kind::Count}, {"detail", Kind::Text}}, rows);
}

std::string spoken(std::string name) {
  std::ranges::replace(name, '-', ' ');
  return name;
}

// What holds if a condition is not met.
std::string opposite(std::string_view condition) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"not-used", "used"},
                                                                      {"dropped", "no dropped calls"},
                                                                      {"unclean", "closed cleanly"},
                                                                      {"overwritten", "no answer overwritten"},
                                                                      {"unwatched", "all processes watched"},
                                                                      {"exit", "exit status 0"}};
  for (const auto& [name, words] : kWords)
    if (name == condition) return std::string(words);
  return "no " + std::string(condition);
}

std::string opposites(const Conditions& all) {
  std::vector<std::string> out;
  for (const Condition& c : all) out.push_back(opposite(c.name));
  return fmt::format("{}", fmt::join(out, ", "));
}

// "174063616 bytes of GPU memory" as "166 MiB of GPU memory".
std::string with_human_bytes(const std::string& detail) {
  std::int64_t bytes = 0;
  const char* const end = detail.data() + detail.size();
  const auto [rest, failed] = std::from_chars(detail.data(), end, bytes);
  constexpr std::string_view kUnit = " bytes";
  if (failed != std::errc() || !std::string_view(rest, end).starts_with(kUnit)) return detail;
  return table::human_bytes(bytes) + std::string(rest + kUnit.size(), end);
}

std::string told(const Context& context, std::string_view state, const Condition& c, const std::string& why) {
  return with_recording(context, fmt::format("{}: {}: {}\n", state, c.title.empty() ? spoken(c.name) : c.title,
                                             table::printable(with_human_bytes(why))));
}

Result<void> print(Context& context, const Conditions& looked_at) {
  const Conditions met = those(looked_at, &Condition::is_met), unknown = those(looked_at, &Condition::is_unknown);
  if (context.settings.format && context.output.format != table::Format::Table) return print_all(context, met, unknown);
  std::string text;
  for (const Condition& c : met) text += told(context, "failed", c, c.detail);
  for (const Condition& c : unknown) text += told(context, "unknown", c, c.unknown);
  if (met.empty() && unknown.empty()) text = "passed: " + opposites(looked_at) + "\n";
  if (auto done = context.output.bytes->write(text); !done) return done;
  return context.output.bytes->flush();
}

}  // namespace

Result<void> check_recording(Context& context, Recording& recording) {
  const Settings& s = context.settings;
  if (s.rank) return no_rank("check");
  if (s.sql || !s.where.empty() || !s.sort.empty() || !s.columns.empty() || s.limit || s.pid || s.rank ||
      !s.name.empty())
    return usage("check takes --fail-on, --session and --format only", {}, "fade-query sql 'SELECT * FROM checks'");
  auto session = chosen_session(s, recording);
  if (!session) return tl::unexpected(session.error());
  auto all = read_conditions(recording, *session, s.fail_on);
  if (!all) return tl::unexpected(all.error());
  if (recording.state == State::Running) take_as_running(*all, state_text(recording));
  const auto looked_at = chosen(*all, s.fail_on);
  if (!looked_at) return tl::unexpected(looked_at.error());
  if (std::ranges::any_of(*looked_at, &Condition::is_met)) context.status = kConditionMet;
  else if (std::ranges::any_of(*looked_at, &Condition::is_unknown)) context.status = kCannotBeTold;
  return print(context, *looked_at);
}

}  // namespace fade::query
