#include "cli/rocpd/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/rocpd/guid.hpp"
#include "cli/rocpd/tables.hpp"
#include "cli/table/text.hpp"
#include "cli/timeline/utf8.hpp"

namespace fade::rocpd {
namespace {

constexpr std::size_t kMostStrings = 100'000;  // that are remembered

// A file that is thrown away if anything goes wrong needs neither a journal nor a sync for each page.
constexpr std::string_view kSettings =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;";

constexpr std::array<std::string_view, 4> kJsonColumns{"extdata", "environment", "call_stack", "line_info"};

struct BindValue {
  sqlite::Stmt& to;
  int at;
  void operator()(std::monostate) const { to.bind_null(at); }
  void operator()(std::int64_t value) const { to.bind_int(at, value); }
  void operator()(double value) const { to.bind_real(at, value); }
  void operator()(const std::string& value) const { to.bind_text(at, value); }
};

std::string clean(const std::string& text, bool is_json) {
  if (!is_json) return timeline::valid_utf8(text);
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? text : table::json_on_one_line(text);
}

std::string or_object(const std::string& json) { return json.empty() ? "{}" : json; }

}  // namespace

Rows::Rows(sqlite::Stmt one, sqlite::Stmt many, std::vector<bool> is_json)
    : one_(std::move(one)), many_(std::move(many)), is_json_(std::move(is_json)), cells_(kAtOnce * is_json_.size()) {}

Result<void> Rows::add(std::span<const Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* text = std::get_if<std::string>(&values[i]);
    cells_[used_++] = text ? Value(clean(*text, is_json_[i])) : values[i];
  }
  if (used_ < cells_.size()) return {};
  used_ = 0;
  bind(many_, 0, cells_.size());
  return many_.run();
}

Result<void> Rows::write() {
  const std::size_t columns = is_json_.size(), end = std::exchange(used_, 0);
  for (std::size_t first = 0; first < end; first += columns) {
    bind(one_, first, columns);
    if (auto done = one_.run(); !done) return done;
  }
  return {};
}

void Rows::bind(sqlite::Stmt& to, std::size_t first, std::size_t cells) {
  for (std::size_t i = 0; i < cells; ++i) std::visit(BindValue{to, static_cast<int>(i) + 1}, cells_[first + i]);
}

Result<File> File::create(const std::string& path, const std::string& guid) {
  auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  File out(std::move(*db), suffix_of(guid));
  if (auto done = out.prepare(guid); !done) return tl::unexpected(with_context("cannot write " + path, done.error()));
  return out;
}

Result<void> File::prepare(const std::string& guid) {
  const std::string sql = std::string(kSettings) + "BEGIN;" + tables(suffix_, guid) + std::string(views());
  if (auto done = db_.exec(sql); !done) return done;
  if (auto done = prepare_texts(); !done) return done;
  const std::array<std::string, 7> columns{"id",         "category_id",    "stack_id", "parent_stack_id",
                                           "call_stack", "correlation_id", "extdata"};
  auto event = rows("event", columns);
  if (!event) return tl::unexpected(event.error());
  event_ = *event;
  for (const auto& [tag, value] :
       {std::pair("schema_version", std::string(kSchemaVersion)), {"uuid", suffix_}, {"guid", guid}})
    if (auto done = add_metadata(tag, value); !done) return done;
  return {};
}

Result<void> File::prepare_texts() {
  const std::pair<sqlite::Stmt*, const char*> statements[] = {
      {&string_, "INSERT OR IGNORE INTO \"rocpd_string{0}\" (string) VALUES (?)"},
      {&known_string_, "SELECT id FROM \"rocpd_string{0}\" WHERE string = ?"},
      {&metadata_, "INSERT INTO \"rocpd_metadata{0}\" (tag, value) VALUES (?,?)"}};
  for (const auto& [to, text] : statements) {
    auto made = db_.prepare(fmt::format(fmt::runtime(text), suffix_));
    if (!made) return tl::unexpected(made.error());
    *to = std::move(*made);
  }
  return {};
}

Result<sqlite::Stmt> File::insert(std::string_view table, std::span<const std::string> columns, std::size_t rows) {
  std::string names, row, all;
  for (const std::string& column : columns) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column);
    row += row.empty() ? "(?" : ",?";
  }
  for (std::size_t i = 0; i < rows; ++i) all += (i == 0 ? "" : ",") + row + ")";
  return db_.prepare(fmt::format("INSERT INTO \"rocpd_{}{}\" ({}) VALUES {}", table, suffix_, names, all));
}

Result<Rows*> File::rows(std::string_view table, std::span<const std::string> columns) {
  if (auto done = write_waiting(); !done) return tl::unexpected(done.error());
  auto one = insert(table, columns, 1), many = insert(table, columns, Rows::kAtOnce);
  if (!one || !many) return tl::unexpected(one ? many.error() : one.error());
  std::vector<bool> is_json;
  for (const std::string& column : columns)
    is_json.push_back(std::ranges::find(kJsonColumns, column) != kJsonColumns.end());
  rows_.push_back(std::make_unique<Rows>(std::move(*one), std::move(*many), std::move(is_json)));
  return rows_.back().get();
}

Result<void> File::write_waiting() {
  for (const auto& rows : rows_)
    if (auto done = rows->write(); !done) return done;
  return {};
}

Result<void> File::add_metadata(std::string_view tag, std::string_view value) {
  const std::string text = timeline::valid_utf8(value);
  metadata_.bind(tag, text);
  return metadata_.run();
}

Result<std::int64_t> File::string_id(const std::string& raw) {
  const std::string text = timeline::valid_utf8(raw);
  if (const auto known = strings_.find(text); known != strings_.end()) return known->second;
  string_.bind(text);
  if (auto done = string_.run(); !done) return tl::unexpected(done.error());
  known_string_.bind(text);
  auto row = known_string_.step();
  if (!row) return tl::unexpected(row.error());
  const std::int64_t id = known_string_.integer(0);
  known_string_.reset();
  if (strings_.size() >= kMostStrings) strings_.clear();
  return strings_[text] = id;
}

Result<std::int64_t> File::add_event(const Event& event) {
  auto category = string_id(event.category);
  if (!category) return category;
  const std::array<Value, 7> cells{++events_,
                                   *category,
                                   event.stack,
                                   event.parent,
                                   or_object(event.call_stack),
                                   std::int64_t{0},
                                   or_object(event.extdata)};
  if (auto done = event_->add(cells); !done) return tl::unexpected(done.error());
  return events_;
}

Result<void> File::finish() {
  const std::string index =
      fmt::format("CREATE INDEX \"rocpd_arg{0}_event_id_idx\" ON \"rocpd_arg{0}\" (event_id); COMMIT", suffix_);
  if (auto done = write_waiting(); !done) return done;
  rows_.clear();
  for (sqlite::Stmt* statement : {&string_, &known_string_, &metadata_}) *statement = sqlite::Stmt();
  if (auto done = db_.exec(index); !done) return done;
  db_.close();
  return {};
}

}  // namespace fade::rocpd
