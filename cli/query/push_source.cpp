#include "cli/query/push_source.hpp"

#include <algorithm>
#include <utility>

namespace fade::query {
namespace {

void add_value(push::NativeColumn& to, const table::Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) to.add(*n);
  else if (const auto* x = std::get_if<double>(&value)) to.add(*x);
  else if (const auto* text = std::get_if<std::string>(&value)) to.add(std::string_view(*text));
  else to.add_null();
}

}  // namespace

std::optional<std::int64_t> PushedSession::rank_of(std::int64_t pid) const {
  const auto found = ranks.find(pid);
  return found == ranks.end() ? std::nullopt : std::optional(found->second);
}

Result<PushSource> PushSource::prepare(Database& database, const push::Table& table, const PushedSession& session,
                                       const Parameters& parameters) {
  auto rows = database.prepare(table.source.rows);
  if (!rows) return tl::unexpected(with_context("cannot read " + table.name, rows.error()));
  for (const auto& [name, value] : parameters) rows->bind(name, value);
  PushSource out(std::move(*rows), session);
  for (const push::Lookup& lookup : table.source.lookups)
    if (auto read = out.read_dictionary(database, lookup); !read)
      return tl::unexpected(with_context("cannot read " + table.name, read.error()));
  out.bind_columns(table);
  return out;
}

Result<void> PushSource::read_dictionary(Database& database, const push::Lookup& lookup) {
  auto statement = database.prepare(lookup.sql);
  if (!statement) return tl::unexpected(statement.error());
  Dictionary& to = dictionaries_.emplace_back();
  to.key_column = column_named(lookup.key);
  for (int i = 1; i < statement->columns(); ++i) to.names.push_back(statement->column_name(i));  // behind the key
  for (;;) {
    auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    Entry& entry = to.entries[statement->integer(0)];
    for (int i = 1; i < statement->columns(); ++i) entry.push_back({statement->value(i), {}, statement->is_null(i)});
  }
}

int PushSource::column_named(std::string_view name) const {
  for (int i = 0; i < rows_.columns(); ++i)
    if (rows_.column_name(i) == name) return i;
  return -1;
}

PushSource::From PushSource::from_added(std::string_view name) const {
  using What = From::What;
  constexpr std::pair<std::string_view, What> kAdded[] = {
      {"day", What::Day},   {"job", What::Job},           {"host", What::Host}, {"recording", What::Recording},
      {"rank", What::Rank}, {"snapshot", What::Snapshot},
  };
  const auto* const found =
      std::find_if(std::begin(kAdded), std::end(kAdded), [&](const auto& one) { return one.first == name; });
  return {found == std::end(kAdded) ? What::Nothing : found->second, 0, {}, {}};
}

// A column that the rows have is taken from there. Lookups that have it as well say where it is NULL.
PushSource::From PushSource::find(std::string_view column) const {
  From out;
  if (const int at = push::is_added(column) ? -1 : column_named(column); at >= 0)
    out = {From::What::Recorded, at, {}, {}};
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    const auto& names = dictionaries_[i].names;
    const Place place{i, static_cast<std::size_t>(std::ranges::find(names, column) - names.begin())};
    if (place.column == names.size()) continue;
    if (out.what != From::What::Recorded) return {From::What::Lookup, 0, place, {}};
    out.masks.push_back(place);
  }
  return out.what == From::What::Recorded ? out : from_added(column);
}

// Without any rank all rows have the same one.
bool PushSource::varies(const From& from) const {
  using What = From::What;
  return from.what == What::Recorded || from.what == What::Lookup ||
         (from.what == What::Rank && !session_->ranks.empty());
}

void PushSource::bind_columns(const push::Table& table) {
  for (const push::ColumnShape& column : table.stored) {
    const From from = find(column.name);
    (varies(from) ? varying_ : constant_).push_back(columns_.size());
    columns_.push_back(from);
    if (from.what == From::What::Lookup) encode(from.place, column);
  }
  if (const From pid = find("pid"); pid.what != From::What::Nothing) pid_ = pid;
  id_column_ = column_named("id");
}

void PushSource::encode(const Place& place, const push::ColumnShape& shape) {
  for (auto& [key, entry] : dictionaries_[place.lookup].entries) {
    push::NativeColumn column(shape);
    Cell& cell = entry[place.column];
    if (cell.is_null) continue;
    add_value(column, cell.value);
    cell.encoded = column.values();
  }
}

void PushSource::add_row(push::NativeBlock& block) {
  look_up();
  for (const std::size_t i : varying_) add_cell(block.column(i), columns_[i]);
  block.end_row();
}

// Behind the rows of one fill(): the same in each of them.
void PushSource::add_constants(push::NativeBlock& block, std::int64_t rows) {
  if (rows == 0) return;
  for (const std::size_t i : constant_) {
    add_constant(block.column(i), columns_[i]);
    block.column(i).repeat_last(rows - 1);
  }
}

void PushSource::add_cell(push::NativeColumn& to, const From& from) {
  if (from.what == From::What::Lookup) return add_looked_up(to, from.place);
  if (from.what == From::What::Rank) return add_rank(to);
  if (!from.masks.empty() && is_masked(from)) return to.add_null();
  add_row_value(to, from.column);
}

void PushSource::add_looked_up(push::NativeColumn& to, const Place& place) const {
  const Cell* const cell = looked_up(place);
  cell && !cell->is_null ? to.add_encoded(cell->encoded) : to.add_null();
}

void PushSource::add_constant(push::NativeColumn& to, const From& from) const {
  switch (from.what) {
    case From::What::Day: return to.add(session_->day);
    case From::What::Job: return to.add(std::string_view(session_->job));
    case From::What::Host: return to.add(std::string_view(session_->host));
    case From::What::Recording: return to.add(session_->recording);
    case From::What::Snapshot: return to.add(session_->snapshot);
    case From::What::Recorded:
    case From::What::Lookup:
    case From::What::Rank:
    case From::What::Nothing: break;
  }
  to.add_null();
}

void PushSource::add_rank(push::NativeColumn& to) {
  const auto pid = pid_of_row();
  if (!pid) last_rank_ = session_->rank;
  else if (pid != last_pid_) last_rank_ = session_->rank_of(*pid);
  last_pid_ = pid;
  last_rank_ ? to.add(*last_rank_) : to.add_null();
}

// The kinds of cells, the most frequent first. A blob is no text, so it counts as nothing.
void PushSource::add_row_value(push::NativeColumn& to, int column) {
  sqlite3_value* const cell = rows_.cell(column);
  switch (sqlite3_value_type(cell)) {
    case SQLITE_INTEGER: return to.add(static_cast<std::int64_t>(sqlite3_value_int64(cell)));
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(cell));
      return to.add(std::string_view(text ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(cell))));
    }
    case SQLITE_FLOAT: return to.add(sqlite3_value_double(cell));
    default: return to.add_null();
  }
}

bool PushSource::is_masked(const From& from) const {
  return std::ranges::any_of(from.masks, [this](const Place& place) {
    const Cell* const cell = looked_up(place);
    return !cell || cell->is_null;
  });
}

// Once for each row: several columns come from one entry. Rows behind each other often have the same one.
void PushSource::look_up() {
  for (Dictionary& one : dictionaries_) {
    const std::int64_t key = rows_.integer(one.key_column);
    if (one.is_found && one.key == key) continue;
    const auto found = one.entries.find(key);
    one.entry = found == one.entries.end() ? nullptr : &found->second;
    one.key = key;
    one.is_found = true;
  }
}

std::optional<std::int64_t> PushSource::pid_of_row() {
  if (!pid_) return std::nullopt;
  if (pid_->what == From::What::Recorded) return rows_.integer(pid_->column);
  const Cell* const cell = looked_up(pid_->place);
  const auto* pid = cell ? std::get_if<std::int64_t>(&cell->value) : nullptr;
  return pid ? std::optional(*pid) : std::nullopt;
}

}  // namespace fade::query
