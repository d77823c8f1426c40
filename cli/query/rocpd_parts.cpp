// The pages page_rocpd_*.sql have the columns of their tables. A page that has event_category gives each row an event;
// a text in a column of ids is a string of the file; times are of the session.
#include <algorithm>
#include <array>

#include "cli/query/rocpd_source.hpp"
#include "cli/rocpd/guid.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

struct RocpdPart {
  std::string_view page, table;
  bool is_filtered = false;  // by thread and time, too
};
constexpr std::array<RocpdPart, 7> kFactParts{{{"rocpd_processes", "info_process"},
                                               {"rocpd_threads", "info_thread"},
                                               {"rocpd_agents", "info_agent"},
                                               {"rocpd_streams", "info_stream"},
                                               {"rocpd_queues", "info_queue"},
                                               {"rocpd_code_objects", "info_code_object"},
                                               {"rocpd_kernels", "info_kernel_symbol"}}};
constexpr std::array<RocpdPart, 3> kWorkParts{{{"rocpd_dispatches", "kernel_dispatch", true},
                                               {"rocpd_copies", "memory_copy", true},
                                               {"rocpd_allocations", "memory_allocate", true}}};
constexpr std::array<std::string_view, 4> kTimes{"start", "end", "init", "fini"};

bool is_ours(std::string_view column) {
  return column == "session" || column.starts_with("filter_") || column.starts_with("event_");
}

std::string filtered_rows(std::string_view page) {
  return "SELECT m.* FROM (\n" + std::string(page) + R"(
) m
WHERE (:session IS NULL OR m.session = :session) AND (:pid IS NULL OR m.filter_pid = :pid)
  AND (:tid IS NULL OR m.filter_tid = :tid)
  AND (:rank IS NULL OR (m.session, m.filter_pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (:from IS NULL OR m."end" >= :from) AND (:to IS NULL OR m.start < :to))";
}

class PartWriter {
 public:
  PartWriter(RocpdExport& to, const RocpdPart& part) : to_(to), part_(part) {}
  Result<void> run();

 private:
  Result<void> begin(const Statement& statement);
  Result<void> add(Statement& statement);
  Result<void> add_event(Statement& statement);
  Result<table::Value> cell(Statement& statement, int at);
  table::Value of(Statement& statement, std::string_view name) const;

  RocpdExport& to_;
  const RocpdPart& part_;
  std::vector<std::string> names_;  // of the page
  std::vector<int> places_;         // in the page, of what goes into the table
  bool has_event_ = false;
  rocpd::Rows* rows_ = nullptr;
  std::vector<table::Value> cells_;
};

Result<void> PartWriter::begin(const Statement& statement) {
  std::vector<std::string> columns;
  for (int i = 0; i < statement.columns(); ++i) {
    names_.push_back(statement.column_name(i));
    has_event_ = has_event_ || names_.back() == "event_category";
    if (is_ours(names_.back())) continue;
    places_.push_back(i);
    columns.push_back(names_.back());
  }
  if (has_event_) columns.emplace_back("event_id");
  auto rows = to_.file.rows(part_.table, columns);
  if (!rows) return tl::unexpected(rows.error());
  rows_ = *rows;
  return {};
}

table::Value PartWriter::of(Statement& statement, std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? table::Value() : statement.value(static_cast<int>(found - names_.begin()));
}

std::int64_t number_of(const table::Value& value) {
  const auto* n = std::get_if<std::int64_t>(&value);
  return n ? *n : 0;
}
std::string text_of(const table::Value& value) {
  const auto* s = std::get_if<std::string>(&value);
  return s ? *s : std::string();
}

Result<table::Value> PartWriter::cell(Statement& statement, int at) {
  const std::string& name = names_[static_cast<std::size_t>(at)];
  table::Value value = statement.value(at);
  if (std::ranges::find(kTimes, name) != kTimes.end() && !table::is_null(value))
    return table::Value(to_.at(number_of(of(statement, "session")), number_of(value)));
  if (!name.ends_with("_id") || !std::holds_alternative<std::string>(value)) return value;
  auto id = to_.file.string_id(std::get<std::string>(value));
  return id ? Result<table::Value>(*id) : tl::unexpected(id.error());
}

Result<void> PartWriter::add_event(Statement& statement) {
  auto event = to_.file.add_event({.category = text_of(of(statement, "event_category")),
                                   .stack = number_of(of(statement, "event_stack")),
                                   .parent = number_of(of(statement, "event_parent"))});
  if (!event) return tl::unexpected(event.error());
  cells_.emplace_back(*event);
  return {};
}

Result<void> PartWriter::add(Statement& statement) {
  cells_.clear();
  for (const int at : places_) {
    auto value = cell(statement, at);
    if (!value) return tl::unexpected(value.error());
    cells_.push_back(std::move(*value));
  }
  if (has_event_)
    if (auto done = add_event(statement); !done) return done;
  return rows_->add(cells_);
}

Result<void> PartWriter::run() {
  const std::string_view page = schema::page_sql(part_.page);
  auto statement = to_.source.recording.database.prepare(part_.is_filtered ? filtered_rows(page) : std::string(page));
  if (!statement) return tl::unexpected(statement.error());
  bind_filters(to_.source, *statement);
  if (auto done = begin(*statement); !done) return done;
  for (;;) {
    auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    if (auto done = add(*statement); !done) return done;
  }
}

// Rows need a node, also those of an empty recording.
Result<void> write_node(RocpdExport& to) {
  std::string host, kernel;
  const auto read = [&](const NamedRow& row) -> Result<void> {
    if (host.empty()) host = row.raw("host"), kernel = row.raw("kernel");
    return {};
  };
  if (auto done = for_each_row(to.source, std::string(schema::page_sql("timeline_sessions")), read); !done) return done;
  const std::array<std::string, 6> columns{"id", "hash", "machine_id", "system_name", "hostname", "release"};
  auto rows = to.file.rows("info_node", columns);
  if (!rows) return tl::unexpected(rows.error());
  const std::array<table::Value, 6> cells{
      std::int64_t{1}, rocpd::hash_of(host), host.empty() ? "?" : host, "Linux", host, kernel};
  return (*rows)->add(cells);
}

// Pages know processes and threads by numbers of the operating system, tables by their rows.
Result<void> learn_rows(RocpdExport& to) {
  const auto add = [&](const NamedRow& row) -> Result<void> {
    const std::int64_t session = row.number("session"), pid = row.number("pid");
    to.processes[{session, pid}] = row.number("process_id");
    to.threads[{session, pid, row.number("tid")}] = row.number("id");
    return {};
  };
  return for_each_row(to.source,
                      "SELECT t.id, t.session, t.process_id, t.pid, t.tid FROM threads t JOIN (" +
                          std::string(schema::page_sql("rocpd_threads")) + ") r ON r.id = t.id ORDER BY t.id",
                      add);
}

}  // namespace

Result<void> write_rocpd_parts(RocpdExport& to) {
  if (auto done = write_node(to); !done) return done;
  for (const RocpdPart& part : kFactParts)
    if (auto done = PartWriter(to, part).run(); !done) return done;
  for (const RocpdPart& part : kWorkParts)
    if (auto done = PartWriter(to, part).run(); !done) return done;
  return learn_rows(to);
}

}  // namespace fade::query
