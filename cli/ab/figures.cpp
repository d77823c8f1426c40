#include "cli/ab/figures.hpp"

#include "cli/query/recording.hpp"
#include "cli/table/formats.hpp"

namespace fade::cli::ab {
namespace {

using query::Database;
using table::Value;

std::int64_t integer(const Value& v) {
  const auto* n = std::get_if<std::int64_t>(&v);
  return n ? *n : 0;
}

// Calls `take` with each row of SQL that knows :session.
template <class Take>
Result<void> each_row(Database& database, std::int64_t session, std::string_view sql, Take take) {
  auto statement = database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", session);
  for (;;) {
    auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    take(*statement);
  }
}

Result<void> read_wall(Database& database, Figures& figures) {
  return each_row(database, figures.session,
                  "SELECT duration FROM processes WHERE session = :session AND parent_id IS NULL AND duration > 0 "
                  "ORDER BY id LIMIT 1",
                  [&](const query::Statement& row) { figures.wall_ns = integer(row.value(0)); });
}

Result<void> read_kernels(Database& database, Figures& figures) {
  return each_row(
      database, figures.session,
      "SELECT name, grid_x || 'x' || grid_y || 'x' || grid_z, block_x || 'x' || block_y || 'x' || block_z, "
      "sum(launches) FROM kernel_stats "
      "WHERE session = :session GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 20000",
      [&](const query::Statement& row) {
        figures.kernels.push_back({table::raw_text(row.value(0)), table::raw_text(row.value(1)),
                                   table::raw_text(row.value(2)), static_cast<std::uint64_t>(integer(row.value(3)))});
      });
}

Result<void> read_rules(Database& database, Figures& figures) {
  return each_row(
      database, figures.session,
      "SELECT o.spec, o.hits, (SELECT was FROM override_hits h WHERE h.rule_id = o.id LIMIT 1), "
      "(SELECT became FROM override_hits h WHERE h.rule_id = o.id LIMIT 1) FROM overrides o WHERE o.session = :session "
      "ORDER BY o.id",
      [&](const query::Statement& row) {
        figures.rules.push_back({table::raw_text(row.value(0)), static_cast<std::uint64_t>(integer(row.value(1))),
                                 table::raw_text(row.value(2)), table::raw_text(row.value(3))});
      });
}

}  // namespace

std::uint64_t Figures::launches() const {
  std::uint64_t all = 0;
  for (const KernelUse& use : kernels) all += use.launches;
  return all;
}

Result<Figures> read_figures(const RunOutcome& outcome) {
  const RunSummary& s = outcome.summary;
  Figures figures{.wall_ns = s.duration_ns,
                  .held_ns = s.stopped_ns,
                  .calls = s.calls,
                  .errors = s.errors,
                  .dropped = s.dropped,
                  .exit_code = outcome.exit_code,
                  .exit_signal = outcome.exit_signal};
  auto recording = query::open_recording(s.database);
  if (!recording) return tl::unexpected(recording.error());
  if (!recording->sessions.empty()) figures.session = recording->sessions.back();
  for (const auto read : {read_wall, read_kernels, read_rules})
    if (auto done = read(recording->database, figures); !done) return tl::unexpected(done.error());
  return figures;
}

}  // namespace fade::cli::ab
