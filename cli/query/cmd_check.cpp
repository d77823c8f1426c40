// check: conditions that a recording must not meet, for CI. What they are is the view checks.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr int kConditionMet = 1;

struct Condition {
  std::string name;
  std::int64_t n = 0;  // how often it is met, in all chosen sessions
  std::string detail;
  bool usual = false;
};

Result<std::vector<Condition>> read_conditions(Recording& recording, const table::Value& session) {
  auto rows = rows_of(recording, "SELECT condition, n, detail, usual FROM checks WHERE session = coalesce(:session, session)", session);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Condition> out;
  for (const Row& row : *rows) {
    const std::string name = table::raw_text(row[0]);
    auto known = std::ranges::find(out, name, &Condition::name);
    if (known == out.end()) known = out.insert(out.end(), {name, 0, {}, integer(row[3]) != 0});
    if (integer(row[1]) > 0 && known->detail.empty()) known->detail = table::raw_text(row[2]);
    known->n += integer(row[1]);
  }
  return out;
}

std::vector<std::string> names_of(const std::vector<Condition>& all) {
  std::vector<std::string> out;
  for (const Condition& c : all) out.push_back(c.name);
  return out;
}

Result<std::vector<Condition>> chosen(const std::vector<Condition>& all, const std::vector<std::string>& wanted) {
  std::vector<Condition> out;
  if (wanted.empty()) std::ranges::copy_if(all, std::back_inserter(out), &Condition::usual);
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(all, name, &Condition::name);
    if (found == all.end()) {
      const std::string near = nearest(name, names_of(all));
      return usage("there is no condition '" + table::printable(name) + "'", fmt::format("there are {}", fmt::join(names_of(all), ", ")), near.empty() ? "" : "fade-query check --fail-on " + near);
    }
    out.push_back(*found);
  }
  return out;
}

Result<void> print(Context& context, const std::vector<Condition>& met, const std::vector<Condition>& looked_at) {
  using table::Kind;
  if (context.settings.format && context.output.format != table::Format::Table) {
    std::vector<Row> rows;
    for (const Condition& c : met) rows.push_back({c.name, c.n, c.detail});
    Settings settings;
    Context plain{settings, {}, context.path, context.named, context.output};
    return print_rows(plain, "check", {{"condition", Kind::Text}, {"n", Kind::Count}, {"detail", Kind::Text}}, rows);
  }
  std::string text;
  for (const Condition& c : met) text += fmt::format("failed {}: {}\n", c.name, table::printable(c.detail));
  if (met.empty()) text = fmt::format("ok: {}\n", fmt::join(names_of(looked_at), ", "));
  if (auto done = context.output.bytes->write(text); !done) return done;
  return context.output.bytes->flush();
}

}  // namespace

Result<void> check_recording(Context& context, Recording& recording) {
  const Settings& s = context.settings;
  if (s.sql || !s.where.empty() || !s.sort.empty() || !s.columns.empty() || s.limit || s.pid || !s.name.empty())
    return usage("check takes --fail-on, --session and --format only", {}, "fade-query sql 'SELECT * FROM checks'");
  auto session = chosen_session(s, recording);
  if (!session) return tl::unexpected(session.error());
  auto all = read_conditions(recording, *session);
  if (!all) return tl::unexpected(all.error());
  const auto looked_at = chosen(*all, s.fail_on);
  if (!looked_at) return tl::unexpected(looked_at.error());
  std::vector<Condition> met;
  std::ranges::copy_if(*looked_at, std::back_inserter(met), [](const Condition& c) { return c.n > 0; });
  if (!met.empty()) context.status = kConditionMet;
  return print(context, met, *looked_at);
}

}  // namespace fade::query
