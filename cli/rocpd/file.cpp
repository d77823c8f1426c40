#include "cli/rocpd/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  bool is_json;
  std::string& text;  // what is bound must live until the row is written
  void operator()(std::monostate) const { to.bind_null(at); }
  void operator()(std::int64_t value) const { to.bind_int(at, value); }
  void operator()(double value) const { to.bind_real(at, value); }
  void operator()(const std::string& value) const {
    text = is_json ? table::json_on_one_line(value) : timeline::valid_utf8(value);
    to.bind_text(at, text);
  }
};

std::string or_object(const std::string& json) { return json.empty() ? "{}" : table::json_on_one_line(json); }

}  // namespace

Result<void> Rows::add(std::span<const Value> values) {
  std::vector<std::string> texts(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    std::visit(BindValue{insert_, static_cast<int>(i) + 1, is_json_[i], texts[i]}, values[i]);
  return insert_.run();
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
  const std::pair<sqlite::Stmt*, const char*> statements[] = {
      {&event_,
       "INSERT INTO \"rocpd_event{0}\" (id, category_id, stack_id, parent_stack_id, correlation_id, call_stack, "
       "extdata) VALUES (?,?,?,?,0,?,?)"},
      {&string_, "INSERT OR IGNORE INTO \"rocpd_string{0}\" (string) VALUES (?)"},
      {&known_string_, "SELECT id FROM \"rocpd_string{0}\" WHERE string = ?"},
      {&metadata_, "INSERT INTO \"rocpd_metadata{0}\" (tag, value) VALUES (?,?)"}};
  for (const auto& [to, text] : statements) {
    auto made = db_.prepare(fmt::format(fmt::runtime(text), suffix_));
    if (!made) return tl::unexpected(made.error());
    *to = std::move(*made);
  }
  for (const auto& [tag, value] :
       {std::pair("schema_version", std::string(kSchemaVersion)), {"uuid", suffix_}, {"guid", guid}})
    if (auto done = add_metadata(tag, value); !done) return done;
  return {};
}

Result<Rows> File::rows(std::string_view table, std::span<const std::string> columns) {
  std::string names, marks;
  for (const std::string& column : columns) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column);
    marks += marks.empty() ? "?" : ",?";
  }
  auto made = db_.prepare(fmt::format("INSERT INTO \"rocpd_{}{}\" ({}) VALUES ({})", table, suffix_, names, marks));
  if (!made) return tl::unexpected(made.error());
  std::vector<bool> is_json;
  for (const std::string& column : columns)
    is_json.push_back(std::ranges::find(kJsonColumns, column) != kJsonColumns.end());
  return Rows(std::move(*made), std::move(is_json));
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
  const std::string stack = or_object(event.call_stack), extra = or_object(event.extdata);
  event_.bind(++events_, *category, event.stack, event.parent, stack, extra);
  if (auto done = event_.run(); !done) return tl::unexpected(done.error());
  return events_;
}

Result<void> File::finish() {
  const std::string index =
      fmt::format("CREATE INDEX \"rocpd_arg{0}_event_id_idx\" ON \"rocpd_arg{0}\" (event_id); COMMIT", suffix_);
  for (sqlite::Stmt* statement : {&event_, &string_, &known_string_, &metadata_}) *statement = sqlite::Stmt();
  if (auto done = db_.exec(index); !done) return done;
  db_.close();
  return {};
}

}  // namespace fade::rocpd
